import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { after, answer, createScriptedService, problem, type Script, useVirtualTime } from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const reason = new Error("changed my mind");
const rejectionOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "answered",
    (error: unknown) => error,
  );

it("ends a call that waits for its turn at once, and it is never sent", async () => {
  const { client, received } = createScriptedService(() => after(100, () => answer(200, "[]")));
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

it("ends a request that is under way, and gives its place to the next", async () => {
  const answers: Script = ({ url }) => (url.endsWith("slow") ? new Promise<never>(() => undefined) : answer(200, "[]"));
  const { client, received } = createScriptedService(answers, { maxConcurrent: 1 });
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

it("ends a call that waits to be repeated", async () => {
  const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => 0.999 });
  const abort = new AbortController();
  const rejected = rejectionOf(client.pets.create({ name: "Rex", categoryId: 1 }, { signal: abort.signal }));
  await vi.advanceTimersByTimeAsync(500);
  abort.abort(reason);
  expect(await rejected).toBe(reason);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveLength(1);
});

it("sends nothing for a signal that is aborted already", async () => {
  const { client, received } = createScriptedService(() => answer(200, "[]"));
  expect(await rejectionOf(client.pets.list({ signal: AbortSignal.abort(reason) }))).toBe(reason);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(received).toEqual([]);
});

it("ends an iteration between two pages", async () => {
  const headers = { Link: '</v1/pets?cursor=AQ>; rel="next"' };
  const { client, received } = createScriptedService(() => answer(200, "[]", { headers }));
  const abort = new AbortController();
  const pages = client.pets.pages({ signal: abort.signal });
  const first = pages.next();
  await vi.advanceTimersByTimeAsync(100);
  expect((await first).done).toBe(false);
  abort.abort(reason);
  expect(await rejectionOf(pages.next())).toBe(reason);
  expect(received).toHaveLength(1);
});

it("a thousand aborted calls take nobody's place in the queue, and nobody's unit", async () => {
  const { client, received } = createScriptedService(() => after(1, () => answer(200, "[]", { remaining: 8 })));
  const abort = new AbortController();
  const aborted = Array.from({ length: 1_000 }, () => rejectionOf(client.pets.list({ signal: abort.signal })));
  abort.abort(reason);
  expect(new Set(await Promise.all(aborted))).toEqual(new Set([reason]));
  const calls = Array.from({ length: 5 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all(calls);
  expect(received).toHaveLength(5);
});

it("one signal may be shared by any number of calls without a warning of the platform", async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warn);
  const { client } = createScriptedService(() => answer(200, "[]", { remaining: 59 }));
  const { signal } = new AbortController();
  const calls = Array.from({ length: 50 }, () => client.pets.list({ signal }));
  await vi.advanceTimersByTimeAsync(5_000);
  await Promise.all(calls);
  vi.useRealTimers();
  await new Promise((resolve) => setTimeout(resolve, 1));
  process.off("warning", warn);
  expect(warnings).toEqual([]);
});
