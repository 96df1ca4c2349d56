import { ApiKeyBannedError, type PetStoreError, serviceErrorCodes } from "@petstore/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  after,
  createScriptedService,
  problem,
  respond,
  rexJson,
  startMs,
  useVirtualTime,
} from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const failureOf = (call: Promise<unknown>): Promise<PetStoreError> =>
  call.then(
    () => Promise.reject(new Error("the call succeeded")),
    (error: PetStoreError) => error,
  );

describe("an error", () => {
  const retryable = [
    "REQUEST_TIMEOUT",
    "IDEMPOTENCY_IN_PROGRESS",
    "RATE_LIMIT_EXCEEDED",
    "DAILY_QUOTA_EXCEEDED",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
  ];

  it.each(serviceErrorCodes.filter((code) => !retryable.includes(code)))(
    "has the code %s, and is not retried",
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

  it("has the code UNEXPECTED_RESPONSE for an unknown code, and for a response of a proxy", async () => {
    for (const response of [problem(418, "TEAPOT"), respond(403, "<html>forbidden</html>"), respond(400, "null")]) {
      const { client } = createScriptedService(() => response);
      const failing = failureOf(client.pets.list());
      await vi.advanceTimersByTimeAsync(10);
      expect(await failing).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: response.status });
    }
  });
});

describe("a temporary failure", () => {
  const failures: [what: string, fail: () => Response | Promise<Response>, code: string][] = [
    ["a broken connection", () => Promise.reject(new TypeError("fetch failed")), "NETWORK_ERROR"],
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

  it.each(failures)("%s: retries the create with the same body and Idempotency-Key", async (_name, fail) => {
    const { client, received } = createScriptedService((_request, index) =>
      index < 3 ? fail() : respond(201, rexJson),
    );
    const creating = client.pets.create({ name: "Rex", categoryId: 1 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await creating).name).toBe("Rex");
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  });

  it.each(failures)("%s: rejects after five retries", async (_name, fail, code) => {
    const { client, received } = createScriptedService(fail);
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await failing).toMatchObject({ code });
    expect(received).toHaveLength(6);
  });

  it("is retried after a random delay of up to 1, 2, 4, 8 and 16 seconds", async () => {
    for (const share of [0, 0.5, 0.999]) {
      useVirtualTime();
      const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { random: () => share });
      void failureOf(client.pets.list());
      await vi.advanceTimersByTimeAsync(60_000);
      const gaps = received.slice(1).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? 0));
      for (const [index, gap] of gaps.entries()) {
        const expected = share * 1_000 * 2 ** index;
        expect(gap).toBeGreaterThanOrEqual(Math.floor(expected));
        // Bottleneck needs a few ticks for each job.
        expect(gap).toBeLessThan(expected + 20);
      }
    }
  });

  it("is retried after at most 30 s, even in the eighth retry", async () => {
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
  ])("%s: does not retry before Retry-After", async (_name, code, status) => {
    const { client, received } = createScriptedService((_request, index) =>
      index === 0 ? problem(status, code, { headers: { "Retry-After": "7" } }) : respond(200, "[]"),
    );
    const listing = client.pets.list();
    await vi.advanceTimersByTimeAsync(7_000 + 100);
    await listing;
    expect(received).toHaveLength(2);
    expect((received[1]?.atMs ?? 0) - (received[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(7_000);
  });

  it("is retried before calls that were not sent yet", async () => {
    const { client, received } = createScriptedService(
      (_request, index) => after(50, () => (index === 0 ? problem(500, "INTERNAL_ERROR") : respond(200, "[]"))),
      { maxConcurrent: 1 },
    );
    const calls = ["A", "B", "C", "D"].map((cursor) => client.pets.list({ cursor }));
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(calls);
    expect(received.map(({ url }) => url.at(-1)).join("")).toBe("ABACD");
  });

  it("of the network pauses all calls, and sends one probe at a time", async () => {
    let isUnavailable = true;
    const { client, received } = createScriptedService(
      () => (isUnavailable ? Promise.reject(new TypeError("refused")) : respond(200, "[]")),
      { random: () => 0.999 },
    );
    const calls = Array.from({ length: 100 }, () => client.pets.list());
    await vi.advanceTimersByTimeAsync(10_000);
    // The first request, and probes after 1, 2 and 4 more seconds. The next follows 8 seconds later.
    expect(received).toHaveLength(4);
    isUnavailable = false;
    await vi.advanceTimersByTimeAsync(90_000);
    expect(await Promise.all(calls)).toHaveLength(100);
  });
});

describe("a missing response", () => {
  it("is a TIMEOUT after timeoutMs, even if fetch ignores its signal", async () => {
    const { client, received } = createScriptedService(() => new Promise<never>(() => undefined), {
      timeoutMs: 5_000,
      maxRetries: 1,
    });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await failing).toMatchObject({ code: "TIMEOUT", status: undefined });
    expect(received.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it("is a TIMEOUT if the body never ends", async () => {
    const { client } = createScriptedService(() => new Response(new ReadableStream({})), {
      timeoutMs: 5_000,
      maxRetries: 0,
    });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(5_100);
    expect((await failing).code).toBe("TIMEOUT");
  });

  it("is a NETWORK_ERROR if fetch rejects, with that error as its cause", async () => {
    const cause = new TypeError("fetch failed");
    const { client } = createScriptedService(() => Promise.reject(cause), { maxRetries: 0 });
    const failing = failureOf(client.pets.list());
    await vi.advanceTimersByTimeAsync(100);
    expect(await failing).toMatchObject({ code: "NETWORK_ERROR", cause, status: undefined });
  });
});

it("a ban rejects with ApiKeyBannedError, which has the end of the ban", async () => {
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
