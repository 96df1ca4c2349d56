import { EventEmitter } from "node:events";
import { Problem } from "@petstore/core";
import { expect, it } from "vitest";
import { createAccountTurns, maxWaitingBytes } from "./account-turns.js";

const dear = { accountId: 1n, bytes: 1, cost: 1 };

function open() {
  let scheduled: (() => void)[] = [];
  const turns = createAccountTurns((turn) => scheduled.push(turn));
  const done: string[] = [];
  return {
    done,
    /** Starts work that writes its name to `done`, and returns the error that it ended with. */
    start(name: string, request: Partial<typeof dear> = {}, response = openResponse()): Promise<unknown> {
      const run = async () => turns.run({ ...dear, ...request, response }, () => done.push(name));
      return run().then(
        () => undefined,
        (error: unknown) => error,
      );
    },
    run: turns.run,
    scheduled: () => scheduled.length,
    nextTurn() {
      const due = scheduled;
      scheduled = [];
      for (const turn of due) turn();
    },
  };
}

function openResponse() {
  const response = Object.assign(new EventEmitter(), { closed: false });
  const close = () => {
    response.closed = true;
    response.emit("close");
  };
  return Object.assign(response, { close });
}

it("does the first work of a turn at once, without a promise", () => {
  const { run } = open();
  expect(run({ ...dear, response: openResponse() }, () => "done")).toBe("done");
});

it("does one dear piece of work of an account in a turn, the oldest first", () => {
  const { done, start, nextTurn } = open();
  for (const name of ["a", "b", "c"]) void start(name);
  expect(done).toEqual(["a"]);
  nextTurn();
  expect(done).toEqual(["a", "b"]);
  void start("d");
  nextTurn();
  nextTurn();
  expect(done).toEqual(["a", "b", "c", "d"]);
});

it("lets no account wait for another", () => {
  const { done, start } = open();
  void start("a");
  void start("waits");
  void start("b", { accountId: 2n });
  expect(done).toEqual(["a", "b"]);
});

it("does cheap work together until it costs a turn", () => {
  const { done, start, nextTurn } = open();
  for (const name of ["a", "b", "c", "d", "e"]) void start(name, { cost: 0.4 });
  expect(done).toEqual(["a", "b"]);
  nextTurn();
  expect(done).toEqual(["a", "b", "c", "d"]);
});

it("keeps the order: cheap work does not overtake dear work that waits", () => {
  const { done, start, nextTurn } = open();
  void start("a", { cost: 0.5 });
  void start("dear");
  void start("cheap", { cost: 0.1 });
  expect(done).toEqual(["a"]);
  nextTurn();
  expect(done).toEqual(["a", "dear"]);
});

it("lets many pieces of work of one request wait, without a warning of a leak", async () => {
  const { start } = open();
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  const response = openResponse();
  for (let piece = 0; piece < 20; piece += 1) void start(`${piece}`, {}, response);
  await new Promise(setImmediate);
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});

it("does work that costs more than a turn, alone", () => {
  const { done, start, nextTurn } = open();
  void start("a", { cost: 3 });
  void start("b", { cost: 0.1 });
  expect(done).toEqual(["a"]);
  nextTurn();
  expect(done).toEqual(["a", "b"]);
});

it("schedules one turn at a time, and none when there is nothing to do", () => {
  const { start, nextTurn, scheduled } = open();
  void start("a");
  void start("b", { accountId: 2n });
  expect(scheduled()).toBe(1);
  nextTurn();
  expect(scheduled()).toBe(0);
});

it("drops the work of a closed request, while it waits and before", async () => {
  const { done, start, nextTurn } = open();
  const response = openResponse();
  void start("a");
  const waiting = start("waits", { bytes: maxWaitingBytes }, response);
  response.close();
  expect(await waiting).toMatchObject({ code: "MALFORMED_REQUEST" });
  expect(response.listenerCount("close")).toBe(0);
  expect(await start("late", {}, response)).toMatchObject({ code: "MALFORMED_REQUEST" });
  // Its bytes are free for others.
  void start("b", { bytes: maxWaitingBytes });
  nextTurn();
  expect(done).toEqual(["a", "b"]);
});

it("refuses work with SERVICE_UNAVAILABLE if more than 20 MiB of the account would wait", async () => {
  const { done, start, nextTurn } = open();
  void start("a", { bytes: maxWaitingBytes });
  void start("b", { bytes: maxWaitingBytes - 1 });
  void start("c", { bytes: 1 });
  expect(await start("d")).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
  void start("other", { accountId: 2n });
  nextTurn();
  void start("e", { bytes: maxWaitingBytes - 1 });
  nextTurn();
  nextTurn();
  expect(done).toEqual(["a", "other", "b", "c", "e"]);
});

it("passes the result and the error of the work on, and continues", async () => {
  const { start, run, nextTurn } = open();
  void start("a");
  const result = run({ ...dear, response: openResponse() }, () => "b");
  const failure = Promise.resolve(
    run({ ...dear, response: openResponse() }, () => {
      throw new Problem("INVALID_JSON");
    }),
  ).catch((error: unknown) => error);
  const last = start("c");
  for (let turn = 0; turn < 3; turn++) nextTurn();
  expect(await result).toBe("b");
  expect(await failure).toMatchObject({ code: "INVALID_JSON" });
  expect(await last).toBeUndefined();
});
