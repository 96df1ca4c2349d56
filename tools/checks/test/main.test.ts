import { fileURLToPath } from "node:url";
import { startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

it.each([
  ["an option has a wrong value", ["fuzz", "--requests", "1e6"], '--requests cannot be "1e6"'],
  ["no file has the name", ["faults", "--only", "nothing"], "No test has such a name"],
  ["no test has the name", ["faults", "--only", "unavailable", "--name", "nothing"], "No test has such a name"],
])("ends with exit code 2 when %s", async (_what, args, message) => {
  await using program = startProgram({ name: "The command", args: [main, ...args] });
  expect(await program.ended).toBe(2);
  expect(program.output.join("\n")).toContain(message);
});
