import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { after, createScriptedService, problem, respond, type Script, useVirtualTime } from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const reason = new Error("changed my mind");
const rejectionOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "succeeded",
    (error: unknown) => error,
  );

it("rejects a queued call immediately, and never sends it", async () => {
  const { client, received } = createScriptedService(() => after(100, () => respond(200, "[]")));
  const abort = new AbortController();
  const first = client.pets.list();
  const rejected = rejectionOf(client.pets.list({ cursor: "second", signal: abort.signal }));
  const third = client.pets.list({ cursor: "third" });
  await vi.advanceTimersByTimeAsync(50);
  abort.abort(reason);
  expect(await rejected).toBe(reason);
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([first, third]);
  expect(received.map(({ url }) => url.split("=")[1])).toEqual([undefined, "third"]);
});

it("aborts a request in flight, and starts the next one", async () => {
  const script: Script = ({ url }) => (url.endsWith("slow") ? new Promise<never>(() => undefined) : respond(200, "[]"));
  const { client, received } = createScriptedService(script, { maxConcurrent: 1 });
  const abort = new AbortController();
  const rejected = rejectionOf(client.pets.list({ cursor: "slow", signal: abort.signal }));
  const next = client.pets.list();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(received).toHaveLength(1);
  abort.abort(reason);
  expect(await rejected).toBe(reason);
  expect(received[0]?.signal.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(100);
  expect((await next).pets).toEqual([]);
});

it("rejects a call that waits for its retry", async () => {
  const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => 0.999 });
  const abort = new AbortController();
  const rejected = rejectionOf(client.pets.create({ name: "Rex", categoryId: 1 }, { signal: abort.signal }));
  await vi.advanceTimersByTimeAsync(500);
  abort.abort(reason);
  expect(await rejected).toBe(reason);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveLength(1);
});

it("sends nothing for a signal that is already aborted", async () => {
  const { client, received } = createScriptedService(() => respond(200, "[]"));
  expect(await rejectionOf(client.pets.list({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(received).toEqual([]);
});

it("ends an iteration between two pages", async () => {
  const headers = { Link: '</v1/pets?cursor=AQ>; rel="next"' };
  const { client, received } = createScriptedService(() => respond(200, "[]", { headers }));
  const abort = new AbortController();
  const pages = client.pets.pages({ signal: abort.signal });
  const first = pages.next();
  await vi.advanceTimersByTimeAsync(100);
  expect((await first).done).toBe(false);
  abort.abort(reason);
  expect(await rejectionOf(pages.next())).toBe(reason);
  expect(received).toHaveLength(1);
});

it("a thousand aborted calls use no place in the queue and no unit of the quota", async () => {
  const { client, received } = createScriptedService(() => after(1, () => respond(200, "[]", { remaining: 8 })));
  const abort = new AbortController();
  const aborted = Array.from({ length: 1_000 }, () => rejectionOf(client.pets.list({ signal: abort.signal })));
  abort.abort(reason);
  expect(new Set(await Promise.all(aborted))).toEqual(new Set([reason]));
  const calls = Array.from({ length: 5 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all(calls);
  expect(received).toHaveLength(5);
});

it("fifty calls share one signal without a warning from Node", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warn);
  const { client } = createScriptedService(() => respond(200, "[]", { remaining: 59 }));
  const { signal } = new AbortController();
  const calls = Array.from({ length: 50 }, () => client.pets.list({ signal }));
  await vi.advanceTimersByTimeAsync(5_000);
  await Promise.all(calls);
  vi.useRealTimers();
  await new Promise((resolve) => setTimeout(resolve, 1));
  process.off("warning", warn);
  expect(warnings).toEqual([]);
});
