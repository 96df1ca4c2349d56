import type { IssueOptions } from "@petstore/test-store/store-database";
import { beforeEach, describe, expect, it } from "vitest";
import { type CallOptions, openSharedStore, openTestStore, type TestStore } from "./test-store.js";

const storePet = "insert into pets (name, category_id, status) values ('Ada', 1, 'sold')";
const store = await openSharedStore();
await store.execute(storePet);
const removedAtMs = Date.parse("2030-12-05T00:00:00Z");

const announcement = {
  deprecation: `@${Date.UTC(2026, 10, 20) / 1_000}`,
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  // The links of an error end with the link to its explanation.
  link: expect.stringMatching(
    /^<\/docs\/get-pet-removal\.md>; rel="deprecation"; type="text\/markdown", <\/v1\/pets>; rel="successor-version"(, |$)/,
  ),
};

// tools/checks/openapi tests the other documented responses, and
// services/standalone/test/static-files.test.ts that the notice needs no key.
it.each([
  ["a millisecond before the removal", 200, "GET", "/v1/pets/1", removedAtMs - 1],
  ["at the removal", 410, "GET", "/v1/pets/1", removedAtMs],
  ["years after the removal", 410, "HEAD", "/v1/pets/abc", Date.UTC(2040, 0, 1)],
  ["years after the removal", 405, "DELETE", "/v1/pets/1", Date.UTC(2040, 0, 1)],
])(
  "%s, %i to %s %s has Deprecation, Sunset, and links to the notice and the replacement, no Retry-After, and counts",
  async (_when, status, method, path, nowMs) => {
    const caller = await store.issueKey({ plan: "free" });
    store.clock.nowMs = nowMs;
    const answer = await store.call(method, path, caller);
    expect(answer).toMatchObject({ status, headers: announcement, rateLimit: { remaining: 59 } });
    expect(answer.headers).not.toHaveProperty("retry-after");
    expect(await store.lineOf(answer)).not.toHaveProperty("brownout");
  },
);

it("the removal changes no other endpoint", async () => {
  const { key } = await store.issueKey();
  expect((await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' })).status).toBe(201);
  expect((await store.call("GET", "/v1/pets?status=available", { key })).status).toBe(200);
});

// packages/core/src/config/brownouts.test.ts tests which schedules are accepted, and tools/checks/conformance/contract that
// the typed client shows the refusal.
describe("a brownout", async () => {
  const schedule = "2027-06-01T10:00:00Z/PT1H,2027-06-02T10:00:00Z/PT1H,2027-06-03T10:00:00Z/PT1H";
  const bansSoon = { BAN_STRIKES: "1", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };
  const browned = await openSharedStore({ DEPRECATION_BROWNOUTS: schedule, METRICS_PORT: "0", ...bansSoon });
  await browned.execute(storePet);
  const [startMs, endMs] = [Date.UTC(2027, 5, 1, 10), Date.UTC(2027, 5, 1, 11)];
  const none = Number.NaN;
  const get = (caller: CallOptions, method = "GET") => browned.call(method, "/v1/pets/1", caller);

  it.each([
    ["a millisecond before its start", 200, none, startMs - 1],
    ["at its start", 410, 3_600, startMs],
    ["a millisecond after its start", 410, 3_600, startMs + 1],
    ["a second and a millisecond before its end", 410, 2, endMs - 1_001],
    ["a second before its end", 410, 1, endMs - 1_000],
    ["a second less a millisecond before its end", 410, 1, endMs - 999],
    ["a millisecond before its end", 410, 1, endMs - 1],
    ["at its end", 200, none, endMs],
    ["a millisecond after its end", 200, none, endMs + 1],
  ])(
    "%s, a response is %i with the Retry-After %d, and only 200 costs a unit",
    async (_when, status, retryAfterSeconds, nowMs) => {
      const caller = await browned.issueKey({ plan: "free" });
      browned.clock.nowMs = nowMs;
      const remaining = status === 200 ? 59 : 60;
      const expected = { status, retryAfterSeconds, headers: announcement, rateLimit: { limit: 60, remaining } };
      expect(await get(caller)).toMatchObject(expected);
    },
  );

  it("serves a request that is made exactly after Retry-After, and says until when it is a rehearsal", async () => {
    const caller = await browned.issueKey();
    browned.clock.nowMs = Date.UTC(2027, 5, 2, 10, 30, 0, 1);
    const { json, retryAfterSeconds } = await get(caller);
    const message =
      "This is a rehearsal of the removal of GET /pets/{petId} on 5 December 2030. " +
      "It works again from Wed, 02 Jun 2027 11:00:00 GMT; use GET /pets.";
    expect(json).toEqual({ code: "ENDPOINT_REMOVED", message, status: 410 });
    browned.clock.nowMs += retryAfterSeconds * 1_000;
    expect((await get(caller)).status).toBe(200);
  });

  describe("which is not over,", () => {
    beforeEach(() => {
      browned.clock.nowMs = Math.max(browned.clock.nowMs + 1, Date.UTC(2027, 5, 3, 10, 5));
    });

    it("refuses HEAD too, without a body", async () => {
      const answer = await get(await browned.issueKey({ plan: "free" }), "HEAD");
      expect(answer).toMatchObject({ status: 410, text: "", headers: announcement, rateLimit: { remaining: 60 } });
      expect(answer.retryAfterSeconds).toBeGreaterThan(0);
    });

    it("costs nothing and is never a strike, however often a request is repeated", async () => {
      const caller = await browned.issueKey({ customLimits: { perMinute: 1, perDay: 10 } });
      for (let call = 0; call < 50; call += 1) {
        expect(await get(caller)).toMatchObject({ status: 410, rateLimit: { limit: 1, remaining: 1 } });
        browned.clock.nowMs += 1;
      }
      expect(await browned.call("GET", "/v1/pets", caller)).toMatchObject({ status: 200, rateLimit: { remaining: 0 } });
    });

    it.each<[what: string, code: string, IssueOptions, callOf: (key: string) => CallOptions]>([
      ["without a key", "API_KEY_MISSING", {}, () => ({})],
      ["with a revoked key", "API_KEY_REVOKED", { revokedAt: new Date(0) }, (key) => ({ key })],
      ["of a suspended account", "ACCOUNT_SUSPENDED", { isSuspended: true }, (key) => ({ key })],
      ["that accepts no JSON", "NOT_ACCEPTABLE", {}, (key) => ({ key, headers: { accept: "text/html" } })],
    ])("refuses a request %s for that reason: %s", async (_what, code, options, callOf) => {
      const { key } = await browned.issueKey(options);
      const answer = await get(callOf(key));
      expect(answer.code).toBe(code);
      expect(await browned.lineOf(answer)).not.toHaveProperty("brownout");
    });

    it("refuses a request without units for that reason", async () => {
      const caller = await browned.issueKey({ customLimits: { perMinute: 1, perDay: 10 } });
      await browned.call("GET", "/v1/pets", caller);
      expect((await get(caller)).code).toBe("RATE_LIMIT_EXCEEDED");
    });

    it("refuses a key that may not read, as the removal does", async () => {
      expect((await get(await browned.issueKey({ scope: "write" }))).code).toBe("ENDPOINT_REMOVED");
    });

    it("changes no other endpoint", async () => {
      const { key } = await browned.issueKey();
      const body = '{"name":"Ada","categoryId":1}';
      expect((await browned.call("POST", "/v1/pets", { key, body })).status).toBe(201);
      expect((await browned.call("GET", "/v1/pets", { key })).status).toBe(200);
      expect((await browned.call("DELETE", "/v1/pets/1", { key })).status).toBe(405);
    });

    it("marks its refusals in the log, with the account and the key, and counts them", async () => {
      const count = async () => (await browned.scrape()).get("petstore_brownout_responses_total");
      const { key, keyId, accountId } = await browned.issueKey();
      // The service counts a request before it writes its line.
      await browned.lineOf(await browned.call("GET", "/v1/pets", { key }));
      const before = (await count()) ?? none;
      const marked = {
        brownout: true,
        code: "ENDPOINT_REMOVED",
        status: 410,
        account: `${accountId}`,
        key: `${keyId}`,
      };
      expect(await browned.lineOf(await get({ key }))).toMatchObject(marked);
      expect(await browned.lineOf(await get({ key }, "HEAD"))).toMatchObject(marked);
      await browned.lineOf(await browned.call("GET", "/v1/pets", { key }));
      expect(await count()).toBe(before + 2);
    });
  });

  it("is in the log at the start of the service, unless it is over", async () => {
    // The clock of the store begins at 12:00.
    await using started = await openTestStore({
      DEPRECATION_BROWNOUTS: "2027-05-03T11:00Z/PT1H,2027-05-03T12:30Z/PT1M",
    });
    expect(lineWith(started, "brownouts")).toMatchObject({
      level: "info",
      brownouts: ["2027-05-03T12:30:00.000Z/2027-05-03T12:31:00.000Z"],
    });
  });
});

it("TEST_CLOCK decides about the removal, goes on from its time, and changes no quota and no key", async () => {
  await using test = await openTestStore({ TEST_STORE: "true", TEST_CLOCK: "2030-12-04T23:59:59Z" });
  expect(lineWith(test, "testClock")).toMatchObject({ level: "warn", testClock: "2030-12-04T23:59:59.000Z" });
  await test.execute(storePet);
  const startMs = test.clock.nowMs;
  for (const [afterMs, status] of [
    [0, 200],
    [999, 200],
    [1_000, 410],
    [1_001, 410],
  ] as const) {
    test.clock.nowMs = startMs + afterMs;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const caller = await test.issueKey({ plan: "free", mode: "test", expiresAt });
    const rateLimit = { remaining: 59, reset: startMs / 1_000 + 60 };
    expect(await test.call("GET", "/v1/pets/1", caller)).toMatchObject({ status, rateLimit });
  }
});

/** The log line that has this field. */
function lineWith({ logged }: TestStore, field: string): unknown {
  return logged.map((line) => JSON.parse(line)).find((line) => field in line);
}
