import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const probe = new URL("../dist/processes/event-loop-probe.js", import.meta.url);

/** Blocks its event loop for the number of milliseconds in a message, in wall time and in CPU time. */
const program = `
process.on("message", (ms) => {
  if (typeof ms !== "number") return;
  const [startMs, { user }] = [performance.now(), process.cpuUsage()];
  while (performance.now() - startMs < ms || process.cpuUsage().user - user < ms * 1000);
});
setInterval(() => {}, 1000);
process.send("listening");
`;

it("a blocked event loop is measured, once, and an idle one is not", async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-probe-"));
  try {
    const file = join(directory, "program.mjs");
    await writeFile(file, program);
    const child = fork(file, { execArgv: ["--import", probe.href] });
    // The probe answers before the program is loaded, which would miss what it is told until then.
    await once(child, "message");
    await longestBlock(child);
    child.send(120);
    expect(await longestBlock(child)).toBeGreaterThan(100);
    await longestBlock(child);
    expect(await longestBlock(child)).toBeLessThan(100);
    // Without its parent process it ends by itself.
    const exit = once(child, "exit");
    child.disconnect();
    expect((await exit)[1]).toBe("SIGTERM");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

async function longestBlock(child: ChildProcess): Promise<number> {
  const answer = once(child, "message");
  child.send("block");
  return (await answer)[0] as number;
}
