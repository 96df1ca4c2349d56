// GET /usage/history, which packages/http serves with both APIs. packages/core tests the periods and the series.
import { migrate } from "@petstore/core";
import { createTestDatabase, shared } from "@petstore/harness";
import { beforeEach, expect, it } from "vitest";
import { openSharedStore, openTestStore } from "./test-store.js";

const { url: DATABASE_URL, directUrl } = await shared(createTestDatabase());
await migrate(directUrl);
/** The second strike of a key bans it. */
const bansSoon = { BAN_STRIKES: "2", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };
const store = await openSharedStore({ DATABASE_URL, METRICS_PORT: "0", ...bansSoon });
const history = (key: string) => store.call("GET", "/usage/history", { key });

beforeEach(() => {
  store.clock.nowMs += 60_000;
});

it("shows the units and the refusals of all keys of the account, and costs nothing", async () => {
  const first = await store.issueKey({ customLimits: { perMinute: 3, perDay: 100 } });
  const second = await store.issueKey({ accountId: first.accountId });
  const stranger = await store.issueKey();
  {
    // Another instance. It writes its counts when it ends.
    await using instance = await openTestStore({ DATABASE_URL });
    const statusOf = async (path: string, { key }: { readonly key: string }) =>
      (await instance.call("GET", path, { key })).status;
    expect([
      await statusOf("/v1/pets", first),
      await statusOf("/v1/none", first),
      await statusOf("/v1/pets/1", second),
      await statusOf("/v1/pets", first),
      await statusOf("/v1/pets", stranger),
    ]).toEqual([200, 404, 404, 429, 200]);
  }
  const answer = await history(first.key);
  expect(answer).toMatchObject({ status: 200, rateLimit: { limit: 3, remaining: 3 } });
  const { hours, days, series } = answer.json as {
    hours: string[];
    days: string[];
    series: { key: unknown; api: string; hours: CountLists; days: CountLists }[];
  };
  expect([hours.length, hours.at(-1), days.length, days.at(-1)]).toEqual([
    48,
    "2027-05-03T12:00:00Z",
    90,
    "2027-05-03",
  ]);
  const sums = series.map(({ key, api, hours: ofHours, days: ofDays }) => [
    key,
    api,
    ...[ofHours, ofDays].map(({ admitted, refused }) => [admitted.at(-1), sum(admitted), refused.at(-1), sum(refused)]),
  ]);
  const prefix = expect.stringMatching(/^pets_live_/);
  expect(sums).toEqual([
    [{ id: `${first.keyId}`, name: null, prefix }, "rest", [2, 2, 1, 1], [2, 2, 1, 1]],
    [{ id: `${second.keyId}`, name: null, prefix }, "rest", [1, 1, 0, 0], [1, 1, 0, 0]],
  ]);
  expect((await history(stranger.key)).json).toMatchObject({ series: [{ key: { id: `${stranger.keyId}` } }] });
});

it("answers each key once a second: another request gets 429 with Retry-After, which is no strike", async () => {
  const { key, accountId } = await store.issueKey({ plan: "free" });
  const { key: other } = await store.issueKey({ accountId });
  expect((await history(key)).status).toBe(200);
  for (let count = 0; count < 5; count += 1) {
    expect(await history(key)).toMatchObject({
      status: 429,
      code: "RATE_LIMIT_EXCEEDED",
      retryAfterSeconds: 1,
      rateLimit: { remaining: 60 },
    });
  }
  expect((await history(other)).status).toBe(200);
  expect((await store.call("GET", "/rate_limit", { key })).json).toMatchObject({ bannedUntil: null });
  store.clock.nowMs += 1_000;
  expect((await history(key)).status).toBe(200);
});

it("leaves a revoked key its 401, however often it is sent", async () => {
  const { key } = await store.issueKey({ revokedAt: new Date(0) });
  for (let count = 0; count < 3; count += 1) {
    expect(await history(key)).toMatchObject({ status: 401, code: "API_KEY_REVOKED" });
  }
});

it("counts a request that it refuses too", async () => {
  const { key } = await store.issueKey();
  expect((await store.call("POST", "/usage/history", { key })).status).toBe(405);
  expect((await history(key)).status).toBe(429);
});

it("answers a key that is over its limit, and during a ban", async () => {
  const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 1 } });
  const codes: unknown[] = [];
  for (let count = 0; count < 4; count += 1) {
    codes.push((await store.call("GET", "/v1/pets", { key })).code);
    store.clock.nowMs += 1;
  }
  expect(codes).toEqual([undefined, "DAILY_QUOTA_EXCEEDED", "DAILY_QUOTA_EXCEEDED", "API_KEY_BANNED"]);
  expect((await history(key)).status).toBe(200);
});

it("needs the valid key of an account that is not suspended", async () => {
  expect(await store.call("GET", "/usage/history")).toMatchObject({ status: 401, code: "API_KEY_MISSING" });
  const { key } = await store.issueKey({ isSuspended: true });
  expect(await history(key)).toMatchObject({ status: 403, code: "ACCOUNT_SUSPENDED" });
});

it("allows GET and HEAD alone, and leaves the page at /usage as it is", async () => {
  const { key } = await store.issueKey();
  expect(await store.call("POST", "/usage/history", { key })).toMatchObject({
    status: 405,
    headers: { allow: "GET, HEAD" },
  });
  store.clock.nowMs += 1_000;
  expect(await store.call("HEAD", "/usage/history", { key })).toMatchObject({ status: 200, text: "" });
  expect((await store.call("GET", "/usage")).headers["content-type"]).toMatch(/^text\/html/);
});

it("is counted in the metrics when it is written", async () => {
  const { key } = await store.issueKey();
  await store.call("GET", "/v1/none", { key });
  const rows = async () => (await store.scrape()).get("petstore_usage_rows_written_total");
  await expect.poll(rows, { timeout: 60_000, interval: 200 }).toBeGreaterThan(0);
  const scraped = await store.scrape();
  expect(scraped.get("petstore_usage_write_failures_total")).toBe(0);
  expect(scraped.get("petstore_usage_dropped_total")).toBe(0);
}, 70_000);

type CountLists = Readonly<Record<"admitted" | "refused", readonly number[]>>;

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
