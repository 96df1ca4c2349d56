import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { startProgram } from "@petstore/harness/processes";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

describeWithRedis("bench", () => {
  test("compares ratios with their targets, and fails if one misses its limit", async () => {
    const args = [main, "--only", "rest-create at 32", "--only", "quota at", "--rounds", "1", "--seconds", "0.2"];
    await using program = startProgram({ name: "The benchmark", args, environment: process.env });
    const exit = await program.ended;
    const output = program.output.join("\n");
    expect(output).toMatch(/^(ok|MISSED) +rest-create at 32, CPU.* petstore-rest \/ bare-express: +\d.* \(<= 0\.7\)$/m);
    expect(output).toMatch(/^(ok|MISSED) +quota at 64, decisions\/s, petstore-redis \/ rlf-union: +\d.* \(>= 1\.3\)$/m);
    expect(exit).toBe(/^MISSED /m.test(output) ? 1 : 0);
  });
});
