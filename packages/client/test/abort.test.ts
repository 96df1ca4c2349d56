import { getEventListeners } from "node:events";
import { expect, it, vi } from "vitest";
import {
  after,
  createScriptedService,
  problem,
  respond,
  resultsAfter,
  type Script,
  useVirtualTime,
} from "./scripted-service.js";

useVirtualTime();

const reason = new Error("changed my mind");

it("rejects a queued call immediately, and never sends it", async () => {
  const { client, received } = createScriptedService(() => after(100, () => respond(200, "[]")));
  const abort = new AbortController();
  const first = client.pets.list();
  const second = client.pets.list({ cursor: "second", signal: abort.signal });
  const third = client.pets.list({ cursor: "third" });
  setTimeout(() => abort.abort(reason), 50);
  expect(await resultsAfter(50, second)).toEqual([reason]);
  expect(await resultsAfter(1_000, first, third)).toEqual(["succeeded", "succeeded"]);
  expect(received.map(({ url }) => url.split("=")[1])).toEqual([undefined, "third"]);
});

it("aborts a request in flight, and starts the next one", async () => {
  const script: Script = ({ url }) => (url.endsWith("slow") ? new Promise<never>(() => undefined) : respond(200, "[]"));
  const { client, received } = createScriptedService(script, { maxConcurrent: 1 });
  const abort = new AbortController();
  const slow = client.pets.list({ cursor: "slow", signal: abort.signal });
  const next = client.pets.list();
  setTimeout(() => abort.abort(reason), 1_000);
  expect(await resultsAfter(1_100, slow, next)).toEqual([reason, "succeeded"]);
  expect(received[0]?.signal.aborted).toBe(true);
  expect(received[1]?.atMs).toBeGreaterThanOrEqual(1_000);
});

it("rejects a call that waits for its retry", async () => {
  const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => 0.999 });
  const abort = new AbortController();
  const creating = client.pets.create({ name: "Rex", categoryId: 1 }, { signal: abort.signal });
  setTimeout(() => abort.abort(reason), 500);
  expect(await resultsAfter(500, creating)).toEqual([reason]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveLength(1);
});

it("sends nothing for a signal that is already aborted", async () => {
  const { client, received } = createScriptedService(() => respond(200, "[]"));
  expect(await resultsAfter(1_000, client.pets.list({ signal: AbortSignal.abort(reason) }))).toEqual([reason]);
  expect(received).toEqual([]);
});

it("leaves no listener on the signal of a request that has ended", async () => {
  const { client, received } = createScriptedService(() => respond(200, "[]"));
  await resultsAfter(1_000, client.pets.list({ signal: new AbortController().signal }));
  expect(received.map(({ signal }) => getEventListeners(signal, "abort"))).toEqual([[]]);
});
