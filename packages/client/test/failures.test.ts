import { ApiKeyBannedError, type PetStoreError, type PetStoreErrorCode, serviceErrorCodes } from "@petstore/client";
import { describe, expect, it, vi } from "vitest";
import {
  after,
  createScriptedService,
  problem,
  respond,
  resultsAfter,
  rexJson,
  type Script,
  startMs,
  useVirtualTime,
} from "./scripted-service.js";

useVirtualTime();

const retryable: readonly PetStoreErrorCode[] = [
  "REQUEST_TIMEOUT",
  "IDEMPOTENCY_IN_PROGRESS",
  "RATE_LIMIT_EXCEEDED",
  "DAILY_QUOTA_EXCEEDED",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];

it.each(serviceErrorCodes.filter((code) => !retryable.includes(code)))(
  "an error has the code %s, and is not retried",
  async (code) => {
    const { client, received } = createScriptedService(() => problem(400, code));
    const [error] = await resultsAfter(60_000, client.pets.list());
    const message = `The message of ${code}.`;
    expect(error).toMatchObject({ name: "PetStoreError", code, status: 400, message, requestId: "request-1" });
    expect(received).toHaveLength(1);
  },
);

it.each<[what: string, status: number, body: string]>([
  ["an error without a status", 422, '{"code":"VALIDATION_FAILED","message":""}'],
  ["an error with the status of another response", 422, '{"code":"VALIDATION_FAILED","message":"","status":400}'],
  ["an error without a message", 422, '{"code":"VALIDATION_FAILED","status":422}'],
  ["an error whose code has another form", 422, '{"code":"name-taken","message":"","status":422}'],
  ["an error with a code of the client itself", 422, '{"code":"QUEUE_FULL","message":"","status":422}'],
  ["a page of a proxy", 403, "<html>forbidden</html>"],
  ["a list that is not an array", 200, rexJson],
  ["null instead of a pet", 200, "[null]"],
])("a response with %s is UNEXPECTED_RESPONSE, and is not retried", async (_what, status, body) => {
  const { client, received } = createScriptedService(() => respond(status, body));
  const [error] = await resultsAfter(120_000, client.pets.list());
  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", status, requestId: "request-1" });
  expect(received).toHaveLength(1);
});

describe("a code that only a newer service knows", () => {
  it("reaches the caller with its message and its status", async () => {
    const { client, received } = createScriptedService(() => problem(422, "PET_NAME_TAKEN"));
    const [error] = await resultsAfter(60_000, client.pets.list());
    const message = "The message of PET_NAME_TAKEN.";
    expect(error).toMatchObject({ name: "PetStoreError", code: "PET_NAME_TAKEN", status: 422, message });
    expect(received).toHaveLength(1);
  });

  it.each([
    [429, 6],
    [500, 1],
    [503, 6],
  ])("with the status %i makes the client send %i requests, as a proxy's response does", async (status, requests) => {
    const { client, received } = createScriptedService(() => problem(status, "REGION_MOVED"));
    expect(await resultsAfter(600_000, client.pets.list())).toMatchObject([{ code: "REGION_MOVED", status }]);
    expect(received).toHaveLength(requests);
  });
});

describe("a temporary failure", () => {
  const later = { headers: { "Retry-After": "7" } };
  const cause = new TypeError("fetch failed");
  it.each<{ fail: Script; error: Partial<PetStoreError> }>([
    ...retryable.map((code) => ({ fail: () => problem(503, code, later), error: { code, retryAfterMs: 7_000 } })),
    { fail: () => Promise.reject(cause), error: { code: "NETWORK_ERROR", cause, status: undefined } },
    { fail: () => new Promise<never>(() => undefined), error: { code: "TIMEOUT" } },
    { fail: () => new Response("Bad Gateway", { status: 502 }), error: { code: "UNEXPECTED_RESPONSE", status: 502 } },
  ])(
    "repeats a create after $error.code five times, unchanged, and not before Retry-After",
    async ({ fail, error }) => {
      const { client, received } = createScriptedService(fail);
      const creating = client.pets.create({ name: "Rex", categoryId: 1 });
      expect(await resultsAfter(600_000, creating)).toMatchObject([error]);
      expect(received).toHaveLength(6);
      const leastWaitMs = error.retryAfterMs ?? 0;
      for (const [index, { atMs }] of received.entries()) expect(atMs).toBeGreaterThanOrEqual(index * leastWaitMs);
      expect(new Set(received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
      expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    },
  );

  it("is retried after a random part of 1, 2, 4, 8, 16 and at most 30 seconds", async () => {
    const options = { random: () => 0.25, maxRetries: 7 };
    const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), options);
    await resultsAfter(600_000, client.pets.list());
    const gapsMs = received.slice(1).map(({ atMs }, index) => atMs - (received[index]?.atMs ?? 0));
    // Bottleneck needs a few milliseconds for each job.
    const gaps = gapsMs.map((ms) => Math.floor(ms / 50) / 20);
    expect(gaps).toEqual([0.25, 0.5, 1, 2, 4, 7.5, 7.5]);
  });

  const failOnce: Script = (_request, index) =>
    after(50, () => (index === 0 ? problem(500, "INTERNAL_ERROR") : respond(200, "[]")));

  it("is retried before calls that were not sent yet", async () => {
    // A is retried after 40 ms, while B is in flight.
    const { client, received } = createScriptedService(failOnce, { maxConcurrent: 1, random: () => 0.04 });
    await resultsAfter(10_000, ...["A", "B", "C", "D"].map((cursor) => client.pets.list({ cursor })));
    expect(received.map(({ url }) => url.at(-1)).join("")).toBe("ABACD");
  });

  it("is retried while the queue is full", async () => {
    const { client } = createScriptedService(failOnce, { maxConcurrent: 1, maxQueued: 1 });
    const first = client.pets.list();
    await vi.advanceTimersByTimeAsync(49);
    const calls = [first, client.pets.list(), client.pets.list()];
    expect(await resultsAfter(10_000, ...calls)).toMatchObject(["succeeded", "succeeded", { code: "QUEUE_FULL" }]);
  });
});

it("a brownout is not retried, says when it ends, and stops no other call", async () => {
  const brownout = { headers: { "Retry-After": "3600" } };
  const { client, received } = createScriptedService(({ url }) =>
    url.endsWith("/pets/1") ? problem(410, "ENDPOINT_REMOVED", brownout) : respond(200, "[]"),
  );
  const [error, listed] = await resultsAfter(10_000, client.pets.get(1), client.pets.list());
  expect(error).toMatchObject({ code: "ENDPOINT_REMOVED", status: 410, retryAfterMs: 3_600_000 });
  const { retryAt } = error as PetStoreError;
  expect(Math.floor(((retryAt?.getTime() ?? 0) - startMs) / 1_000)).toBe(3_600);
  expect(listed).toBe("succeeded");
  expect(received).toHaveLength(2);
  expect(await resultsAfter(10_000, client.pets.get(1))).toMatchObject([{ code: "ENDPOINT_REMOVED" }]);
  expect(received).toHaveLength(3);
});

it.each([
  ["fetch ignores its signal", () => new Promise<never>(() => undefined)],
  ["the body never ends", () => new Response(new ReadableStream({}))],
])("a call is a TIMEOUT after timeoutMs, even if %s", async (_what, script) => {
  const { client, received } = createScriptedService(script, { timeoutMs: 5_000, maxRetries: 0 });
  const [error] = await resultsAfter(5_100, client.pets.list());
  expect(error).toMatchObject({ code: "TIMEOUT", status: undefined });
  expect(received[0]?.signal.aborted).toBe(true);
});

it("a call has no time limit if timeoutMs is Infinity", async () => {
  const { client } = createScriptedService(() => after(600_000, () => respond(200, "[]")), { timeoutMs: Infinity });
  expect(await resultsAfter(600_100, client.pets.list())).toEqual(["succeeded"]);
});

it("a ban rejects with ApiKeyBannedError, which has the end of the ban", async () => {
  const { client } = createScriptedService(() => problem(429, "API_KEY_BANNED", { headers: { "Retry-After": "61" } }));
  const [error] = await resultsAfter(100, client.pets.list());
  expect(error).toBeInstanceOf(ApiKeyBannedError);
  const { bannedUntil, retryAt, retryAfterMs } = error as ApiKeyBannedError;
  expect({ retryAt, retryAfterMs }).toEqual({ retryAt: bannedUntil, retryAfterMs: 61_000 });
  expect(Math.floor((bannedUntil.getTime() - startMs) / 1_000)).toBe(61);
});
