import { probe, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

/** At the message "work", blocks its event loop for 120 ms, in wall time and in CPU time. */
const script = `
process.on("message", (message) => {
  if (message !== "work") return;
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  while (performance.now() - startMs < 120 || process.cpuUsage(before).user < 120_000);
  process.send("done");
});
// The probe does not keep the process alive.
setInterval(() => {}, 1_000);
console.log("ready");
`;

it("measures a blocked event loop once, and no block of an idle one", async () => {
  const args = ["--import", probe, "--input-type=module", "--eval", script];
  await using program = startProgram({ name: "The script", args, environment: {}, hasChannel: true });
  await program.printed(/ready/);
  await program.ask("block");
  await program.ask("work");
  expect(await program.ask("block")).toBeGreaterThan(100);
  expect(await program.ask("block")).toBeLessThan(100);
});
