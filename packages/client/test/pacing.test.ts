// How the queue follows the quota. src/quota-tracker.test.ts tests the rules, and tools/checks/client whole minutes.

import type { PetStoreError } from "@petstore/client";
import { expect, it, vi } from "vitest";
import {
  after,
  codesAfter,
  createScriptedService,
  problem,
  respond,
  resultsAfter,
  useVirtualTime,
} from "./scripted-service.js";

useVirtualTime();

it("sends nothing more after a 429 until Retry-After, then one request, then the others", async () => {
  let refusedAtMs = Number.NaN;
  const { client, received } = createScriptedService(({ atMs }, index) =>
    // Bottleneck takes a unit, and starts its job in a later timer. The sixth response arrives between the two.
    after(100, () => {
      if (index !== 5) return respond(200, "[]", { resetAtMs: atMs < 20_000 ? 20_000 : 80_000 });
      refusedAtMs = atMs + 100;
      return problem(429, "RATE_LIMIT_EXCEEDED", { remaining: 0, resetAtMs: 20_000, headers: { "Retry-After": "20" } });
    }),
  );
  const calls = Array.from({ length: 40 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(20_000);
  expect(received.filter(({ atMs }) => atMs >= refusedAtMs)).toEqual([]);
  const sent = received.length;
  await vi.advanceTimersByTimeAsync(1_000);
  const [probe, next] = received.slice(sent);
  expect((next?.atMs ?? 0) - (probe?.atMs ?? 0)).toBeGreaterThanOrEqual(100);
  expect(await codesAfter(60_000, ...calls)).toEqual(Array(40).fill("succeeded"));
  expect(received).toHaveLength(41);
});

it.each(["API_KEY_BANNED", "DAILY_QUOTA_EXCEEDED"])(
  "rejects the whole queue after %s, and every call until its end, without a request",
  async (code) => {
    const { client, received } = createScriptedService(
      (_request, index) =>
        index === 3 ? problem(429, code, { remaining: 0, headers: { "Retry-After": "300" } }) : respond(200, "[]"),
      { maxConcurrent: 1 },
    );
    const listTimes = (times: number) => Array.from({ length: times }, () => client.pets.list());
    const codes = await codesAfter(1_000, ...listTimes(500));
    expect(codes).toEqual([...Array(3).fill("succeeded"), ...Array(497).fill(code)]);
    expect(await codesAfter(298_000, ...listTimes(1))).toEqual([code]);
    expect(received).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await codesAfter(5_000, ...listTimes(20))).toEqual(Array(20).fill("succeeded"));
  },
);

it("queues a thousand calls, and rejects the next with QUEUE_FULL", async () => {
  const { client } = createScriptedService(() => respond(200, "[]", { limit: 5_000, remaining: 5_000 }));
  const codes = await codesAfter(60_000, ...Array.from({ length: 1_001 }, () => client.pets.list()));
  expect(codes.slice(998)).toEqual(["succeeded", "succeeded", "QUEUE_FULL"]);
});

it("queues calls again from the retryAt of the error that rejected them", async () => {
  const { client } = createScriptedService(
    (_request, index) =>
      index === 0 ? problem(429, "API_KEY_BANNED", { headers: { "Retry-After": "300" } }) : respond(200, "[]"),
    { random: () => 0.999 },
  );
  const [error] = await resultsAfter(100, client.pets.list());
  vi.setSystemTime((error as PetStoreError).retryAt ?? 0);
  expect(await codesAfter(5_000, client.pets.list())).toEqual(["succeeded"]);
});

it("sets one timer for a wait that is longer than the longest timer", async () => {
  const later = { headers: { "Retry-After": "9999999" } };
  const { client } = createScriptedService(() => problem(503, "SERVICE_UNAVAILABLE", later), { maxWaitMs: Infinity });
  void client.pets.list();
  await vi.advanceTimersByTimeAsync(1_000);
  void client.pets.list();
  const setTimer = vi.spyOn(globalThis, "setTimeout");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(setTimer.mock.calls.length).toBeLessThan(10);
});
