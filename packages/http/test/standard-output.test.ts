import { type ChildProcess, execFileSync, type IOType, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, truncateSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";

const directory = await shared(openTemporaryDirectory());

/** These modules alone load faster than the whole package. */
const dist = new URL("../dist/observability/", import.meta.url);

/** Starts a program with an open log. It reports to this test through `process.send`. */
function run(body: string, stdout: IOType | number, stderr?: number, shell: string[] = []): ChildProcess {
  const script = `
    const { openLog } = await import("${new URL("open-log.js", dist)}");
    const { printError } = await import("${new URL("standard-output.js", dist)}");
    const output = openLog({ level: "info", serviceName: "petstore" });
    const { log, dropped } = output;
    const logLines = async (count) => {
      for (let line = 1; line <= count; line += 1) {
        log.info({ padding: "x".repeat(200) }, \`line \${line}\`);
        if (line % 1_000 === 0) await new Promise(setImmediate);
      }
    };
    ${body}`;
  const [command = "", ...args] = [...shell, process.execPath, "--expose-gc", "--input-type=module", "--eval", script];
  return spawn(command, args, { stdio: ["ignore", stdout, stderr ?? "inherit", "ipc"] });
}

const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);

it.each([
  ["exits at once", 'log.info("last"); process.exit(3);', ["last"], 3],
  ["ends by itself", 'process.disconnect(); setTimeout(() => log.info("last"), 10);', ["last"], 0],
  ["throws", 'setImmediate(() => { throw new Error("unexpected"); });', ["uncaught exception"], 1],
])("a program whose output is read writes every line in order when it %s", async (_how, ending, last, exitCode) => {
  const child = run(`for (let line = 1; line <= 100; line += 1) log.info(\`line \${line}\`); ${ending}`, "pipe");
  const exited = once(child, "exit");
  const written = (await text(child.stdout ?? Readable.from([]))).split("\n").filter((line) => line.startsWith("{"));
  expect(written.map((line) => JSON.parse(line).msg)).toEqual([...lines, ...last]);
  expect((await exited)[0]).toBe(exitCode);
});

describe.each<[name: string, open: () => number]>([
  ...(process.platform === "linux" ? [["full", () => openSync("/dev/full", "w")] as [string, () => number]] : []),
  ["closed", closedPipe],
  ["not read", unreadPipe],
])("a program whose output is %s", (_name, open) => {
  function start(body: string): ChildProcess {
    const output = open();
    const child = run(body, output, output);
    closeSync(output);
    return child;
  }

  it("keeps running, counts the dropped lines, holds a bounded part of them, and ends when it disposes the log", async () => {
    const child = start(`
      const usedBytes = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
      await logLines(20_000);
      const first = { dropped: dropped(), bytes: usedBytes() };
      await logLines(60_000);
      process.send({ first, dropped: dropped() - first.dropped, grownBytes: usedBytes() - first.bytes });
      await output[Symbol.asyncDispose]();
      process.disconnect();`);
    const [[report], [exitCode]] = await Promise.all([once(child, "message"), once(child, "exit")]);
    expect(report.first.dropped).toBeGreaterThan(10_000);
    expect(report.dropped).toBeGreaterThan(59_000);
    expect(report.grownBytes).toBeLessThan(3_000_000);
    expect(exitCode).toBe(0);
  });

  it.each([
    ["exits", "process.exit(3);", 3],
    ["throws", 'setTimeout(() => { throw new Error("unexpected"); });', 1],
  ])("ends when it %s", async (_how, ending, exitCode) => {
    const child = start(`await logLines(20_000); ${ending}`);
    expect((await once(child, "exit"))[0]).toBe(exitCode);
  });

  it("drops an error message for standard error", async () => {
    const child = start('printError(new Error("failed")); process.exitCode = 1; process.disconnect();');
    expect((await once(child, "exit"))[0]).toBe(1);
  });
});

it("logging continues when a full file has room again", async () => {
  const path = join(directory.path, "log");
  // 64 KiB fit.
  const body = `
    await logLines(300);
    setTimeout(() => process.send("full"), 1_500);
    process.once("message", () => {
      log.info("room again");
      process.disconnect();
    });`;
  const child = run(body, "ignore", undefined, ["sh", "-c", `trap '' XFSZ; ulimit -f 128; exec "$0" "$@" >> ${path}`]);
  const exited = once(child, "exit");
  await once(child, "message");
  expect((await readFile(path)).length).toBe(65_536);
  truncateSync(path);
  child.send("end");
  await exited;
  const messages = (await readFile(path, "utf8")).match(/"msg":"(line 300|room again)"/g);
  expect(messages).toEqual(['"msg":"line 300"', '"msg":"room again"']);
});

let pipes = 0;

function createPipe(): string {
  const path = join(directory.path, `pipe-${pipes++}`);
  execFileSync("mkfifo", [path]);
  return path;
}

function closedPipe(): number {
  const path = createPipe();
  const reader = openSync(path, "r+");
  const pipe = openSync(path, "w");
  closeSync(reader);
  return pipe;
}

/** A full pipe. A write to it blocks, as to a pipe of a shell. */
function unreadPipe(): number {
  const path = createPipe();
  const pipe = openSync(path, "r+");
  const filling = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(filling, Buffer.alloc(4_096));
  }).toThrow("EAGAIN");
  closeSync(filling);
  return pipe;
}
