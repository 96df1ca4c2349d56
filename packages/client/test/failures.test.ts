import { ApiKeyBannedError, type PetStoreError, serviceErrorCodes } from "@petstore/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { after, answer, createScriptedService, problem, rexJson, startMs, useVirtualTime } from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const failureOf = (call: Promise<unknown>): Promise<PetStoreError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: PetStoreError) => error,
  );

describe("an error", () => {
  const passing = [
    "REQUEST_TIMEOUT",
    "IDEMPOTENCY_IN_PROGRESS",
    "RATE_LIMIT_EXCEEDED",
    "DAILY_QUOTA_EXCEEDED",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
  ];

  it.each(serviceErrorCodes.filter((code) => !passing.includes(code)))(
    "carries the code %s, which no repetition mends",
    async (code) => {
      const { client, received } = createScriptedService(() => problem(400, code));
      const failing = failureOf(client.pets.list());
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await failing).toMatchObject({
        name: "PetStoreError",
        code,
        status: 400,
        message: `The message of ${code}.`,
        requestId: "request-1",
      });
      expect(received).toHaveLength(1);
    },
  );

  it("says UNEXPECTED_RESPONSE of a code it does not know, and of an answer that is a proxy's", async () => {
    for (const response of [problem(418, "TEAPOT"), answer(403, "<html>forbidden</html>"), answer(400, "null")]) {
      const { client } = createScriptedService(() => response);
      const failing = failureOf(client.pets.list());
      await vi.advanceTimersByTimeAsync(10);
      expect(await failing).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: response.status });
    }
  });
});

describe("a failure that passes", () => {
  const failures: [what: string, fail: () => Response | Promise<Response>, code: string][] = [
    ["a connection that breaks", () => Promise.reject(new TypeError("fetch failed")), "NETWORK_ERROR"],
    ["503", () => problem(503, "SERVICE_UNAVAILABLE", { headers: { "Retry-After": "1" } }), "SERVICE_UNAVAILABLE"],
    ["500", () => problem(500, "INTERNAL_ERROR"), "INTERNAL_ERROR"],
    ["408", () => problem(408, "REQUEST_TIMEOUT"), "REQUEST_TIMEOUT"],
    [
      "409",
      () => problem(409, "IDEMPOTENCY_IN_PROGRESS", { headers: { "Retry-After": "1" } }),
      "IDEMPOTENCY_IN_PROGRESS",
    ],
    ["a proxy's 502", () => new Response("Bad Gateway", { status: 502 }), "UNEXPECTED_RESPONSE"],
  ];

  it.each(failures)("%s is met by the same create again, with the same Idempotency-Key", async (_what, fail) => {
    const { client, received } = createScriptedService((_request, index) =>
      index < 3 ? fail() : answer(201, rexJson),
    );
    const creating = client.pets.create({ name: "Rex", categoryId: 1 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await creating).name).toBe("Rex");
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  it.each(failures)("%s is met five times again, then reported", async (_what, fail, code) => {
    const { client, received } = createScriptedService(fail);
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await failing).toMatchObject({ code });
    expect(received).toHaveLength(6);
  });

  it("is met after full jitter: anything up to 1, 2, 4, 8 and 16 seconds", async () => {
    for (const share of [0, 0.5, 0.999]) {
      useVirtualTime();
      const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => share });
      void failureOf(client.pets.list());
      await vi.advanceTimersByTimeAsync(60_000);
      const gaps = received.slice(1).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? 0));
      for (const [index, gap] of gaps.entries()) {
        const expected = share * 1_000 * 2 ** index;
        expect(gap).toBeGreaterThanOrEqual(Math.floor(expected));
        // Bottleneck takes some ticks for each job.
        expect(gap).toBeLessThan(expected + 20);
      }
    }
  });

  it("never waits longer than 30 s by itself, however often it repeats", async () => {
    const options = { random: () => 0.999, maxRetries: 8 };
    const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), options);
    void failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(600_000);
    expect(received).toHaveLength(9);
    expect((received[8]?.atMs ?? 0) - (received[7]?.atMs ?? 0)).toBeLessThan(30_020);
  });

  it.each([
    ["503", "SERVICE_UNAVAILABLE", 503],
    ["409", "IDEMPOTENCY_IN_PROGRESS", 409],
    ["429", "RATE_LIMIT_EXCEEDED", 429],
  ])("%s is never met before its Retry-After", async (_what, code, status) => {
    const { client, received } = createScriptedService((_request, index) =>
      index === 0 ? problem(status, code, { headers: { "Retry-After": "7" } }) : answer(200, "[]"),
    );
    const listing = client.pets.list();
    await vi.advanceTimersByTimeAsync(7_000 + 100);
    await listing;
    expect(received).toHaveLength(2);
    expect((received[1]?.atMs ?? 0) - (received[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(7_000);
  });

  it("goes before calls that were not sent yet", async () => {
    const { client, received } = createScriptedService(
      (_request, index) => after(50, () => (index === 0 ? problem(500, "INTERNAL_ERROR") : answer(200, "[]"))),
      { maxConcurrent: 1 },
    );
    const calls = ["A", "B", "C", "D"].map((cursor) => client.pets.list({ cursor }));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);
    expect(received.map(({ url }) => url.at(-1)).join("")).toBe("ABACD");
  });

  it("of the way to the service makes everybody wait, and one call at a time ask how things are", async () => {
    let isAway = true;
    const { client, received } = createScriptedService(
      () => (isAway ? Promise.reject(new TypeError("refused")) : answer(200, "[]")),
      { random: () => 0.999 },
    );
    const calls = Array.from({ length: 100 }, () => client.pets.list());
    await vi.advanceTimersByTimeAsync(10_000);
    // One to begin with, then after 1, 2 and 4 seconds, the next after 8.
    expect(received).toHaveLength(4);
    isAway = false;
    await vi.advanceTimersByTimeAsync(90_000);
    expect(await Promise.all(calls)).toHaveLength(100);
  });
});

describe("no answer", () => {
  it("in time is a TIMEOUT, also where fetch does not heed its signal", async () => {
    const { client, received } = createScriptedService(() => new Promise<never>(() => undefined), {
      timeoutMs: 5_000,
      maxRetries: 1,
    });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await failing).toMatchObject({ code: "TIMEOUT", status: undefined });
    expect(received.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it("that ends, is a TIMEOUT too: a body that trickles for ever", async () => {
    const { client } = createScriptedService(() => new Response(new ReadableStream({})), {
      timeoutMs: 5_000,
      maxRetries: 0,
    });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(5_100);
    expect((await failing).code).toBe("TIMEOUT");
  });

  it("at all is a NETWORK_ERROR, with what the platform says as its cause", async () => {
    const cause = new TypeError("fetch failed");
    const { client } = createScriptedService(() => Promise.reject(cause), { maxRetries: 0 });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(100);
    expect(await failing).toMatchObject({ code: "NETWORK_ERROR", cause, status: undefined });
  });
});

it("a ban is an error of its own, which says until when", async () => {
  const { client } = createScriptedService(() => problem(429, "API_KEY_BANNED", { headers: { "Retry-After": "61" } }));
  const failing = failureOf(client.pets.list());
  await vi.advanceTimersByTimeAsync(100);
  const error = await failing;
  expect(error).toBeInstanceOf(ApiKeyBannedError);
  expect(error).toMatchObject({ code: "API_KEY_BANNED", status: 429, retryAfterMs: 61_000 });
  const untilMs = (error as ApiKeyBannedError).bannedUntil.getTime() - startMs;
  expect(untilMs).toBeGreaterThanOrEqual(61_000);
  expect(untilMs).toBeLessThan(61_100);
});
