import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";

/** Runs a program with an open log, whose output is read only after a while; returns the messages it has logged. */
async function messagesOf(program: string, readAfterMs = 0): Promise<{ messages: string[]; exitCode: number | null }> {
  const script = `
    const { openLog } = await import("@petstore/http");
    const { log } = openLog("info");
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await sleep(readAfterMs);
  const lines = (await text(child.stdout)).split("\n").filter((line) => line.startsWith("{"));
  return { messages: lines.map((line) => JSON.parse(line).msg), exitCode: await exited };
}

it("a program that exits at once has written what it logged last", async () => {
  expect(await messagesOf('log.info("first"); log.info("last"); process.exit(3);')).toEqual({
    messages: ["first", "last"],
    exitCode: 3,
  });
});

it("a program that ends by itself has written what it logged last", async () => {
  expect(await messagesOf('log.info("first"); setTimeout(() => log.info("last"), 10);')).toEqual({
    messages: ["first", "last"],
    exitCode: 0,
  });
});

it("a fault that nothing caught is the last line, behind all others, also where the pipe is full", async () => {
  const program = `
    const { writeSync } = await import("node:fs");
    process.stdout.on("error", () => {});
    // Opened, it does not block; it is full when it takes nothing more.
    try {
      for (;;) writeSync(1, ".".repeat(1023) + "\\n");
    } catch {}
    for (let line = 1; line <= 100; line += 1) log.info(\`line \${line}\`);
    setImmediate(() => { throw new Error("unexpected"); });`;
  expect(await messagesOf(program, 1_000)).toEqual({
    messages: [...Array.from({ length: 100 }, (_, index) => `line ${index + 1}`), "uncaught exception"],
    exitCode: 1,
  });
});
