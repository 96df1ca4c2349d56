import { startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const probe = new URL("../dist/processes/probe.js", import.meta.url);

/** Blocks its event loop for the number of milliseconds in a message, in wall time and in CPU time. */
const script = `
process.on("message", (ms) => {
  if (typeof ms !== "number") return;
  const [startMs, { user }] = [performance.now(), process.cpuUsage()];
  while (performance.now() - startMs < ms || process.cpuUsage().user - user < ms * 1000);
  process.send("done");
});
// The probe does not keep the process alive.
setInterval(() => {}, 1000);
console.log("ready");
`;

it("measures a blocked event loop once, and no block of an idle one", async () => {
  const args = ["--import", probe.href, "--input-type=module", "--eval", script];
  await using program = startProgram({ name: "The script", args, environment: {}, hasChannel: true });
  await program.printed(/ready/);
  await program.ask("block");
  await program.ask(120);
  expect(await program.ask("block")).toBeGreaterThan(100);
  expect(await program.ask("block")).toBeLessThan(100);
});
