import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createLog } from "./log.js";
import { createRepeatedFaults } from "./repeated-faults.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open() {
  const lines: Record<string, unknown>[] = [];
  const faults = createRepeatedFaults();
  const log = createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }, faults);
  return { lines, faults, log };
}

function refusal(port: number, code = "ECONNREFUSED"): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:${port}`), { code });
}

it("writes a fault once, then how often it came again, then that it has not", () => {
  const { lines, log } = open();
  const fail = (port: number) =>
    log.error({ requestId: `${port}`, code: "SERVICE_UNAVAILABLE", error: refusal(port) }, "failed");
  for (let port = 0; port < 1_000; port++) fail(port);
  expect(lines).toEqual([expect.objectContaining({ requestId: "0", msg: "failed", level: "error" })]);
  vi.advanceTimersByTime(10_000);
  for (let port = 0; port < 5; port++) fail(port);
  vi.advanceTimersByTime(10_000);
  expect(lines.slice(1)).toEqual([
    expect.objectContaining({ msg: "the same fault again", fault: "failed", repeated: 999, level: "error" }),
    expect.objectContaining({ msg: "the same fault again", repeated: 5 }),
  ]);
  vi.advanceTimersByTime(30_000);
  expect(lines.slice(3)).toEqual([
    expect.objectContaining({ msg: "the fault has not come again", fault: "failed", repeatedInAll: 1_004 }),
  ]);
  fail(1);
  expect(lines.at(-1)).toMatchObject({ requestId: "1", msg: "failed" });
});

it("says nothing more about a fault that came once", () => {
  const { lines, log } = open();
  log.warn({ error: refusal(1) }, "lost");
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(1);
});

it("tells kinds of faults apart", () => {
  const { lines, log } = open();
  log.error({ error: refusal(1) }, "failed");
  log.error({ error: refusal(1, "ETIMEDOUT") }, "failed");
  log.warn({ error: refusal(1) }, "lost");
  log.error({ error: new Error("outer", { cause: refusal(1) }) }, "failed");
  expect(lines).toHaveLength(4);
});

it("writes every unexpected fault, every line without a fault, and everything that is no warning", () => {
  const { lines, log } = open();
  for (let round = 0; round < 3; round++) {
    log.error({ code: "INTERNAL_ERROR", error: new TypeError("x is undefined") }, "failed");
    log.warn({}, "Redis is unavailable");
    log.info({ error: refusal(1) }, "told");
  }
  expect(lines).toHaveLength(9);
});

it("remembers at most 100 kinds, and writes each fault of another kind", () => {
  const { lines, log } = open();
  for (let round = 0; round < 2; round++) {
    for (let kind = 0; kind < 105; kind++) log.error({ error: refusal(1, `E${kind}`) }, "failed");
  }
  expect(lines).toHaveLength(110);
});

it("writes the count when it ends, and leaves no timer", () => {
  const { lines, log, faults } = open();
  log.error({ error: refusal(1) }, "failed");
  log.error({ error: refusal(1) }, "failed");
  faults[Symbol.dispose]();
  expect(lines.at(-1)).toMatchObject({ repeated: 1 });
  expect(vi.getTimerCount()).toBe(0);
});
