// How the queue follows the quota. src/quota-tracker.test.ts tests the rules, and tools/checks/client whole minutes.
import { expect, it, vi } from "vitest";
import { after, createScriptedService, problem, respond, resultsAfter, useVirtualTime } from "./scripted-service.js";

useVirtualTime();

it("sends nothing more after a 429 until Retry-After, then one request, then the others", async () => {
  let refusedAtMs = Number.NaN;
  const { client, received } = createScriptedService(({ atMs }, index) =>
    // Bottleneck takes a unit, and starts its job in a later timer. The eighth response arrives between the two.
    after(100, () => {
      if (index !== 7) return respond(200, "[]", { resetAtMs: atMs < 20_000 ? 20_000 : 80_000 });
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
  expect(await resultsAfter(60_000, ...calls)).toEqual(Array(40).fill("succeeded"));
  expect(received).toHaveLength(41);
});

it("queues a thousand calls, and rejects all if the wait is too long, and every call until its end", async () => {
  const usedUp = { remaining: 0, headers: { "Retry-After": "300" } };
  const { client, received } = createScriptedService(
    (_request, index) => (index === 3 ? problem(429, "DAILY_QUOTA_EXCEEDED", usedUp) : respond(200, "[]")),
    { maxConcurrent: 1 },
  );
  const listTimes = (times: number) => Array.from({ length: times }, () => client.pets.list());
  const refused = { code: "DAILY_QUOTA_EXCEEDED" };
  const results = await resultsAfter(1_000, ...listTimes(1_001));
  expect(results.slice(0, 1_000)).toMatchObject([...Array(3).fill("succeeded"), ...Array(997).fill(refused)]);
  expect(results[1_000]).toMatchObject({ code: "QUEUE_FULL" });
  expect(await resultsAfter(298_000, ...listTimes(1))).toMatchObject([refused]);
  expect(received).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(await resultsAfter(5_000, ...listTimes(20))).toEqual(Array(20).fill("succeeded"));
});
