import type { PetStoreError } from "@petstore/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { after, createScriptedService, problem, respond, useVirtualTime } from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const outcomes = (calls: readonly Promise<unknown>[]): Promise<string[]> =>
  Promise.all(
    calls.map((call) =>
      call.then(
        () => "succeeded",
        (error: PetStoreError) => error.code,
      ),
    ),
  );

it("sends one request first, to learn the remaining quota", async () => {
  const { client, received } = createScriptedService(() => after(100, () => respond(200, "[]")));
  const calls = Array.from({ length: 20 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(90);
  expect(received).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60);
  expect(received).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await outcomes(calls)).toEqual(Array(20).fill("succeeded"));
});

it("has at most maxConcurrent requests in flight", async () => {
  let inFlight = 0;
  let most = 0;
  let remaining = 1_000;
  const { client } = createScriptedService(
    async () => {
      remaining -= 1;
      inFlight += 1;
      most = Math.max(most, inFlight);
      const remainingNow = remaining;
      await after(50, () => undefined);
      inFlight -= 1;
      return respond(200, "[]", { limit: 1_000, remaining: remainingNow });
    },
    { maxConcurrent: 5 },
  );
  const calls = Array.from({ length: 100 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(calls);
  expect(most).toBe(5);
});

it("stops when no units remain, and continues after the reset", async () => {
  const limit = 10;
  const used = [0, 0];
  const { client, received } = createScriptedService(({ atMs }) => {
    const minute = atMs < 60_000 ? 0 : 1;
    used[minute] = (used[minute] ?? 0) + 1;
    return respond(200, "[]", { limit, remaining: limit - used[minute], resetAtMs: (minute + 1) * 60_000 });
  });
  const calls = Array.from({ length: 15 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(59_999);
  expect(received).toHaveLength(10);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(received).toHaveLength(15);
  await Promise.all(calls);
});

it("measures the reset by the server's Date, even if the local clock is an hour slow", async () => {
  const { client, received } = createScriptedService(
    (_request, index) => respond(200, "[]", index === 0 ? { remaining: 0, resetAtMs: 30_000 } : { resetAtMs: 90_000 }),
    { now: () => Date.now() - 3_600_000 },
  );
  const calls = [client.pets.list(), client.pets.list()];
  await vi.advanceTimersByTimeAsync(29_999);
  expect(received).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(received).toHaveLength(2);
  await Promise.all(calls);
});

it("pauses after a 429 until Retry-After, then sends one request, then the others", async () => {
  const { client, received } = createScriptedService((_request, index) =>
    after(100, () =>
      index === 5
        ? problem(429, "RATE_LIMIT_EXCEEDED", { remaining: 0, resetAtMs: 20_000, headers: { "Retry-After": "20" } })
        : respond(200, "[]", { resetAtMs: Date.now() % 60_000 < 20_000 ? 20_000 : 80_000 }),
    ),
  );
  const calls = Array.from({ length: 40 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(1_000);
  const sent = received.length;
  expect(sent).toBeLessThanOrEqual(13);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(received).toHaveLength(sent);
  await vi.advanceTimersByTimeAsync(1_000);
  const [probe, next] = received.slice(sent);
  expect((next?.atMs ?? 0) - (probe?.atMs ?? 0)).toBeGreaterThanOrEqual(100);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await outcomes(calls)).toEqual(Array(40).fill("succeeded"));
  expect(received).toHaveLength(41);
});

it("does not send a call that was about to start when the 429 arrived", async () => {
  let refusedAtMs = Number.NaN;
  const { client, received } = createScriptedService(({ atMs }, index) =>
    // Jobs start one millisecond apart, so some are about to start when this response arrives.
    after(3, () => {
      if (index !== 1) return respond(200, "[]", { resetAtMs: atMs < 20_000 ? 20_000 : 80_000 });
      refusedAtMs = atMs + 3;
      return problem(429, "RATE_LIMIT_EXCEEDED", { remaining: 0, resetAtMs: 20_000, headers: { "Retry-After": "20" } });
    }),
  );
  const calls = Array.from({ length: 10 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(19_999);
  expect(received.filter(({ atMs }) => atMs >= refusedAtMs)).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await outcomes(calls)).toEqual(Array(10).fill("succeeded"));
});

it("resumes at a random time within half a second after the reset", async () => {
  const resumedAtMs = async (share: number): Promise<number> => {
    useVirtualTime();
    const script = (_request: unknown, index: number) =>
      index === 0 ? respond(200, "[]", { remaining: 0, resetAtMs: 10_000 }) : respond(200, "[]", { resetAtMs: 70_000 });
    const { client, received } = createScriptedService(script, { random: () => share });
    const calls = [client.pets.list(), client.pets.list()];
    await vi.advanceTimersByTimeAsync(12_000);
    await Promise.all(calls);
    return received[1]?.atMs ?? 0;
  };
  expect((await resumedAtMs(0.999)) - (await resumedAtMs(0))).toBe(500);
});

it("rejects the whole queue after a ban, and every call until its end, without a request", async () => {
  const { client, received } = createScriptedService(
    (_request, index) =>
      index < 3
        ? respond(200, "[]")
        : problem(429, "API_KEY_BANNED", { remaining: 0, headers: { "Retry-After": "300" } }),
    { maxConcurrent: 1 },
  );
  const calls = Array.from({ length: 500 }, () => client.pets.list());
  const settled = outcomes(calls);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await settled).toEqual([...Array(3).fill("succeeded"), ...Array(497).fill("API_KEY_BANNED")]);
  await vi.advanceTimersByTimeAsync(298_000);
  expect(await outcomes([client.pets.list()])).toEqual(["API_KEY_BANNED"]);
  expect(received).toHaveLength(4);
});

it("works again after the ban has ended", async () => {
  const { client, received } = createScriptedService((_request, index) =>
    index === 0 ? problem(429, "API_KEY_BANNED", { headers: { "Retry-After": "300" } }) : respond(200, "[]"),
  );
  const first = outcomes([client.pets.list()]);
  await vi.advanceTimersByTimeAsync(300_100);
  expect(await first).toEqual(["API_KEY_BANNED"]);
  const calls = Array.from({ length: 20 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await outcomes(calls)).toEqual(Array(20).fill("succeeded"));
  expect(received).toHaveLength(21);
});

it("rejects calls with retryAt when the daily quota is used up", async () => {
  const headers = { "Retry-After": "43201" };
  const { client, received } = createScriptedService(
    (_request, index) =>
      index === 0
        ? respond(200, "[]")
        : problem(429, "DAILY_QUOTA_EXCEEDED", { remaining: 0, resetAtMs: 43_200_000, headers }),
    { maxConcurrent: 1 },
  );
  const settled = outcomes(Array.from({ length: 10 }, () => client.pets.list()));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await settled).toEqual(["succeeded", ...Array(9).fill("DAILY_QUOTA_EXCEEDED")]);
  const error = await client.pets.list().catch((thrown: PetStoreError) => thrown);
  expect(error).toMatchObject({ code: "DAILY_QUOTA_EXCEEDED", retryAt: expect.any(Date), retryAfterMs: 43_201_000 });
  expect(received).toHaveLength(2);
});

it("queues a thousand calls, and rejects the next with QUEUE_FULL", async () => {
  const { client } = createScriptedService(() => respond(200, "[]", { limit: 5_000, remaining: 5_000 }));
  const calls = Array.from({ length: 1_001 }, () => client.pets.list());
  const settled = outcomes(calls);
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await settled).slice(998)).toEqual(["succeeded", "succeeded", "QUEUE_FULL"]);
});

it("works without X-RateLimit headers", async () => {
  const { client, received } = createScriptedService(() => after(100, () => new Response("[]")));
  const calls = Array.from({ length: 17 }, () => client.pets.list());
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await outcomes(calls)).toEqual(Array(17).fill("succeeded"));
  expect(new Set(received.slice(1).map(({ atMs }) => Math.floor(atMs / 100))).size).toBeLessThan(5);
});
