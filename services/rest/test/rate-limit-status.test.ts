// GET /rate_limit, which packages/http serves with both APIs.

import type { IssueOptions } from "@petstore/test-store/store-database";
import { beforeEach, expect, it } from "vitest";
import { type Answer, openSharedStore } from "./test-store.js";

const store = await openSharedStore({ BAN_STRIKES: "1", BAN_STRIKES_PER_UNIT: "1" });

const minuteMs = 60_000;
const status = (key: string) => store.call("GET", "/rate_limit", { key });
const spend = (key: string) => store.call("GET", "/v1/none", { key });
const remaining = (minute: number, day: number) => ({
  json: { minute: { remaining: minute }, day: { remaining: day } },
});

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / minuteMs) * minuteMs;
});

it("shows both windows, the plan and no ban, and costs nothing", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await spend(key);
  const minuteReset = store.clock.nowMs / 1_000 + 60;
  const dayReset = Math.ceil(minuteReset / 86_400) * 86_400;
  const shown = {
    plan: "free",
    minute: { limit: 60, used: 1, remaining: 59, reset: minuteReset },
    day: { limit: 1_000, used: 1, remaining: 999, reset: dayReset },
    bannedUntil: null,
  };
  for (let call = 0; call < 3; call += 1) {
    store.clock.nowMs += 1_001;
    expect(await status(key)).toMatchObject({
      status: 200,
      json: shown,
      rateLimit: { limit: 60, remaining: 59 },
      headers: { link: expect.stringMatching(/rel="service-desc".*rel="service-doc"/) },
    });
  }
});

it("shows which key it is and its account, and null for what the key does not have", async () => {
  const expiresAt = new Date("2100-01-31T12:00:00.500Z");
  const { key, keyId, accountId } = await store.issueKey({ plan: "pro", scope: "read", expiresAt });
  await store.execute(`update accounts set name = 'museum' where id = ${accountId}`);
  await store.execute(`update api_keys set name = 'website' where id = ${keyId}`);
  const shown = { prefix: key.slice(0, 18), name: "website", scope: "read", expiresAt: expiresAt.toISOString() };
  const account = { name: "museum", plan: "pro" };
  expect(await status(key)).toMatchObject({ status: 200, json: { plan: "pro", key: shown, account } });
  // As a key of an earlier version is stored. RFC 3339 has no infinity.
  await store.execute(`update api_keys set name = null, prefix = null, expires_at = 'infinity' where id = ${keyId}`);
  const none = { prefix: null, name: null, scope: "read", expiresAt: null };
  await expect.poll(() => status(key)).toMatchObject({ json: { key: none, account } });
});

it("announces the end of a key that ends within 30 days, as every other path does", async () => {
  const expiresAt = new Date(Date.now() + 86_400_000);
  const { key } = await store.issueKey({ expiresAt });
  const announced = { "api-key-expires": expiresAt.toUTCString() };
  expect(await status(key)).toMatchObject({
    json: { key: { expiresAt: expiresAt.toISOString() } },
    headers: announced,
  });
  expect(await spend(key)).toMatchObject({ status: 404, headers: announced });
});

it("says since when a key is refused", async () => {
  const { key, keyId } = await store.issueKey({ expiresAt: new Date("2026-01-31T12:00:00Z") });
  const refusal = async () => ((await status(key)).json as { readonly message: string }).message;
  expect(await refusal()).toBe("The API key expired at 2026-01-31T12:00:00.000Z.");
  await store.execute(`update api_keys set revoked_at = '2026-02-28T12:00:00Z' where id = ${keyId}`);
  await expect.poll(refusal).toBe("The API key was revoked at 2026-02-28T12:00:00.000Z.");
});

it("reads the quota of a key at most once a second", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  expect(await status(key)).toMatchObject(remaining(60, 1_000));
  await spend(key);
  store.clock.nowMs += 999;
  expect(await status(key)).toMatchObject(remaining(60, 1_000));
  store.clock.nowMs += 2;
  expect(await status(key)).toMatchObject(remaining(59, 999));
});

it("answers each key 200 times a second: another request gets 429 with Retry-After", async () => {
  const { key, accountId } = await store.issueKey({ plan: "free" });
  const { key: other } = await store.issueKey({ accountId });
  const ask = async () => (await status(key)).status;
  expect(new Set(await Promise.all(Array.from({ length: 200 }, ask)))).toEqual(new Set([200]));
  expect(await status(key)).toMatchObject({
    status: 429,
    code: "RATE_LIMIT_EXCEEDED",
    retryAfterSeconds: 1,
    rateLimit: { remaining: 60 },
  });
  expect(await status(other)).toMatchObject({ status: 200 });
  store.clock.nowMs += 1_000;
  expect(await status(key)).toMatchObject({ status: 200 });
});

it.each<[string, IssueOptions, (key: string) => Promise<Answer>, number]>([
  ["of another method", {}, (key) => store.call("POST", "/rate_limit", { key }), 405],
  [
    "whose response it does not accept",
    {},
    (key) => store.call("GET", "/rate_limit", { key, headers: { accept: "text/plain" } }),
    406,
  ],
  ["of a suspended account", { isSuspended: true }, status, 403],
])("counts a request %s too", async (_which, options, send, refused) => {
  const { key } = await store.issueKey(options);
  const answers = await Promise.all(Array.from({ length: 201 }, () => send(key)));
  expect(answers.filter((answer) => answer.status === refused)).toHaveLength(200);
  expect(answers.filter(({ code }) => code === "RATE_LIMIT_EXCEEDED")).toHaveLength(1);
});

it("answers a key that is over its limit or banned, and shows when the ban ends", async () => {
  const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 50 } });
  await spend(key);
  await spend(key);
  expect(await status(key)).toMatchObject({ status: 200, json: { minute: { remaining: 0 }, bannedUntil: null } });
  store.clock.nowMs += 2_001;
  const banned = await spend(key);
  expect(banned).toMatchObject({ status: 429, json: { code: "API_KEY_BANNED" } });
  const bannedUntil = Math.ceil(store.clock.nowMs / 1_000) + 60;
  expect(await status(key)).toMatchObject({ status: 200, json: { bannedUntil } });
});

it("needs a valid key, and counts other requests by their address", async () => {
  for (const remaining of [299, 298]) {
    expect(await store.call("GET", "/rate_limit")).toMatchObject({ code: "API_KEY_MISSING", rateLimit: { remaining } });
  }
});

it("refuses the key of a suspended account", async () => {
  const { key, accountId } = await store.issueKey({ plan: "free" });
  await store.execute(`update accounts set suspended_at = now() where id = ${accountId}`);
  const refused = { status: 403, code: "ACCOUNT_SUSPENDED", rateLimit: { limit: 60, remaining: 60 } };
  expect(await status(key)).toMatchObject(refused);
});
