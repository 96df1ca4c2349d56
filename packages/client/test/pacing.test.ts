// How the queue follows the quota. src/quota-tracker.test.ts tests the rules, and tools/checks/client whole minutes.
import { describe, expect, it, vi } from "vitest";
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

describe.each([-3 * 60_000, 24 * 3_600_000])("when the wall clock is set by %i ms", (stepMs) => {
  const later = { headers: { "Retry-After": "20" } };

  it.each<[wait: string, first: Script]>([
    ["after a 429 response", () => problem(429, "RATE_LIMIT_EXCEEDED", { remaining: 0, resetAtMs: 20_000, ...later })],
    ["after the last unit of a window", () => respond(200, "[]", { remaining: 0, resetAtMs: 20_000 })],
    ["while the service is unavailable", () => problem(503, "SERVICE_UNAVAILABLE", later)],
    ["while the key is banned", () => problem(429, "API_KEY_BANNED", later)],
  ])("a call %s is sent after 20 seconds, and not earlier", async (_wait, first) => {
    const startedMs = performance.now();
    let sentAfterMs = 0;
    const { client } = createScriptedService((request, index) => {
      if (index === 0) return first(request, index);
      sentAfterMs ||= performance.now() - startedMs;
      return respond(200, "[]");
    });
    void client.pets.list().catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    vi.setSystemTime(Date.now() + stepMs);
    // A new call each second, because calls are rejected until a ban ends.
    for (let second = 0; second < 30; second += 1) {
      void client.pets.list().catch(() => undefined);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(sentAfterMs).toBeGreaterThanOrEqual(20_000);
    expect(sentAfterMs).toBeLessThan(22_000);
  });

  it("calls that need no wait are sent at once", async () => {
    const { client, received } = createScriptedService(() => respond(200, "[]"));
    const list = () => resultsAfter(1_000, client.pets.list());
    await list();
    vi.setSystemTime(Date.now() + stepMs);
    expect(await list()).toEqual(["succeeded"]);
    expect(received).toHaveLength(2);
  });
});
