import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, truncateSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 30_000 });

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "petstore-output-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** A program with an open log; `process.send` tells this test what happens in it. */
function programOf(body: string): string[] {
  const script = `
    const { openLog, printError } = await import("@petstore/http");
    const output = openLog("info");
    const { log, dropped } = output;
    const logLines = async (count) => {
      for (let line = 1; line <= count; line += 1) {
        log.info({ padding: "x".repeat(200) }, \`line \${line}\`);
        if (line % 1_000 === 0) await new Promise(setImmediate);
      }
    };
    ${body}`;
  return ["--expose-gc", "--input-type=module", "--eval", script];
}

function run(stdout: "pipe" | number, body: string): ChildProcess {
  return spawn(process.execPath, programOf(body), { stdio: ["ignore", stdout, "inherit", "ipc"] });
}

describe("a program whose standard output is read", () => {
  async function messagesOf(body: string): Promise<{ messages: string[]; exitCode: number | null }> {
    const child = run("pipe", body);
    const exited = once(child, "exit");
    const lines = (await text(child.stdout ?? Readable.from([]))).split("\n").filter((line) => line.startsWith("{"));
    return { messages: lines.map((line) => JSON.parse(line).msg), exitCode: (await exited)[0] };
  }

  it("writes its last line when it exits at once", async () => {
    expect(await messagesOf('log.info("first"); log.info("last"); process.exit(3);')).toEqual({
      messages: ["first", "last"],
      exitCode: 3,
    });
  });

  it("writes its last line when it ends by itself", async () => {
    expect(
      await messagesOf('process.disconnect(); log.info("first"); setTimeout(() => log.info("last"), 10);'),
    ).toEqual({ messages: ["first", "last"], exitCode: 0 });
  });

  it("writes an uncaught exception after all other lines", async () => {
    const body = `
      for (let line = 1; line <= 1_000; line += 1) log.info(\`line \${line}\`);
      setImmediate(() => { throw new Error("unexpected"); });`;
    expect(await messagesOf(body)).toEqual({
      messages: [...Array.from({ length: 1_000 }, (_, index) => `line ${index + 1}`), "uncaught exception"],
      exitCode: 1,
    });
  });

  it("prints text for a person without delay and in order", async () => {
    const child = run("pipe", 'log.info("first"); output.print("ready\\n"); setInterval(() => {}, 1_000);');
    const lines = new Promise<string>((resolve) => {
      let printed = "";
      child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        printed += chunk;
        if (printed.endsWith("ready\n")) resolve(printed);
      });
    });
    expect(await lines).toMatch(/^\{.*"msg":"first"\}\nready\n$/);
    child.kill("SIGKILL");
  });
});

type Unwritable = [name: string, open: () => { stdout: "pipe" | number; onStart: (child: ChildProcess) => void }];

const full: Unwritable = ["full", () => ({ stdout: openSync("/dev/full", "w"), onStart: () => {} })];

describe.each<Unwritable>([
  ...(process.platform === "linux" ? [full] : []),
  ["closed", () => ({ stdout: "pipe", onStart: (child) => child.stdout?.destroy() })],
  ["not read", () => ({ stdout: unreadPipe(), onStart: () => {} })],
])("a program whose standard output is %s", (name, open) => {
  async function start(body: string): Promise<ChildProcess> {
    const { stdout, onStart } = open();
    const child = run(stdout, body);
    if (typeof stdout === "number") closeSync(stdout);
    onStart(child);
    return child;
  }

  it("keeps running, counts the dropped lines, and holds a bounded part of them", async () => {
    const child = await start(`
      await logLines(20_000);
      gc();
      const { heapUsed, external } = process.memoryUsage();
      const first = { dropped: dropped(), bytes: heapUsed + external };
      await logLines(60_000);
      gc();
      const after = process.memoryUsage();
      process.send({ first, dropped: dropped() - first.dropped, grownBytes: after.heapUsed + after.external - first.bytes });
      await output[Symbol.asyncDispose]();
      process.disconnect();`);
    const [[report], [exitCode]] = await Promise.all([once(child, "message"), once(child, "exit")]);
    expect(report.first.dropped).toBeGreaterThan(10_000);
    expect(report.dropped).toBeGreaterThan(59_000);
    expect(report.grownBytes).toBeLessThan(3_000_000);
    expect(exitCode).toBe(0);
  });

  it.each([
    ["disposes the log", "await output[Symbol.asyncDispose](); process.disconnect();", 0],
    ["exits", "process.exit(3);", 3],
    ["throws what nothing catches", 'setTimeout(() => { throw new Error("unexpected"); });', 1],
  ])("ends soon when it %s", async (_how, ending, exitCode) => {
    const child = await start(`
      await logLines(20_000);
      const startedAtMs = performance.now();
      process.on("exit", () => process.send({ tookMs: performance.now() - startedAtMs }));
      ${ending.replace("process.disconnect();", "process.channel.unref();")}`);
    const [[report], [code]] = await Promise.all([once(child, "message"), once(child, "exit")]);
    // 200 ms, and the delay of a busy machine.
    expect(report.tookMs, name).toBeLessThan(3_000);
    expect(code).toBe(exitCode);
  });
});

it("logging continues when a full file has room again", async () => {
  const path = join(directory, "log");
  const limited = `trap '' XFSZ; ulimit -f 128; exec "$0" "$@" >> ${path}`;
  // 64 KiB fit.
  const body = `
    await logLines(400);
    setTimeout(() => process.send("full"), 1_500);
    process.once("message", () => {
      log.info("room again");
      process.disconnect();
    });`;
  const child = spawn("sh", ["-c", limited, process.execPath, ...programOf(body)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  await once(child, "message");
  expect((await readFile(path)).length).toBe(65_536);
  truncateSync(path);
  child.send("end");
  await exited;
  const messages = (await readFile(path, "utf8")).match(/"msg":"(line 400|room again)"/g);
  expect(messages).toEqual(['"msg":"line 400"', '"msg":"room again"']);
});

it("an error message is dropped when standard error cannot be written", async () => {
  const body = 'printError(new Error("failed")); process.exitCode = 1; process.disconnect();';
  const unwritable = [unreadPipe(), ...(process.platform === "linux" ? [openSync("/dev/full", "w")] : [])];
  for (const stderr of unwritable) {
    const child = spawn(process.execPath, programOf(body), { stdio: ["ignore", "ignore", stderr, "ipc"] });
    expect((await once(child, "exit"))[0]).toBe(1);
    closeSync(stderr);
  }
});

let pipes = 0;

/** A full pipe. A write to it blocks, as to a pipe of a shell. */
function unreadPipe(): number {
  const path = join(directory, `pipe-${pipes++}`);
  execFileSync("mkfifo", [path]);
  const pipe = openSync(path, "r+");
  const filling = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(filling, Buffer.alloc(4_096));
  }).toThrow("EAGAIN");
  closeSync(filling);
  return pipe;
}
