// The quota over HTTP with an injected clock. packages/core/test/quota tests the rules, and
// tools/checks/conformance/contract the codes and headers through every API.
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const minuteMs = 60_000;
const dayMs = 86_400_000;
const code = (status: number, code: string) => ({ status, json: { code, status } });

/** Gets 404 without a query, and counts like any other request. */
const ask = (key: string): Promise<Answer> => store.call("GET", "/v1/none", { key });
const askAtOnce = (key: string, times: number) => Promise.all(Array.from({ length: times }, () => ask(key)));

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / dayMs) * dayMs + dayMs / 2;
});

describe("a plan", () => {
  it.each([
    ["free", 60, 1_000],
    ["pro", 300, 10_000],
    ["business", 1_000, 100_000],
  ] as const)("%s admits %i requests a minute and %i a day", async (plan, perMinute, perDay) => {
    const { key } = await store.issueKey({ plan });
    const reset = (store.clock.nowMs + minuteMs) / 1_000;
    const first = await ask(key);
    expect(first).toMatchObject({ status: 404, rateLimit: { limit: perMinute, remaining: perMinute - 1, reset } });
    expect(first.headers["ratelimit-policy"]).toBe(`"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`);
    expect(first.headers.ratelimit).toBe(`"minute";r=${perMinute - 1};t=60, "day";r=${perDay - 1};t=43200`);
    const others = (await askAtOnce(key, perMinute)).map(({ status }) => status).sort();
    expect(others).toEqual([...Array(perMinute - 1).fill(404), 429]);
    expect(await ask(key)).toMatchObject({
      ...code(429, "RATE_LIMIT_EXCEEDED"),
      rateLimit: { limit: perMinute, remaining: 0, reset },
    });
  });
});

describe("the minute", () => {
  it.each([0, 1, 400, 999, 1_000, 59_000, 59_001, 59_999])(
    "refuses %i ms after its start, and admits a request exactly after Retry-After",
    async (intoMs) => {
      const { key } = await store.issueKey({ plan: "free" });
      await askAtOnce(key, 60);
      store.clock.nowMs += intoMs;
      const { status, headers } = await ask(key);
      expect([status, headers["retry-after"]]).toEqual([429, `${Math.floor((minuteMs - intoMs) / 1_000) + 1}`]);
      store.clock.nowMs += Number(headers["retry-after"]) * 1_000;
      expect((await ask(key)).status).toBe(404);
    },
  );

  it("ends at its reset: refuses a request a millisecond before, and admits it at the reset", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    await askAtOnce(key, 60);
    store.clock.nowMs += minuteMs - 1;
    expect((await ask(key)).status).toBe(429);
    store.clock.nowMs += 1;
    expect((await ask(key)).rateLimit.remaining).toBe(59);
  });
});

it("the day of Free admits 1,000 requests and refuses the next until midnight UTC", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  const midnight = store.clock.nowMs + dayMs / 2;
  for (let spent = 0; spent < 1_000; spent += 50) {
    const answers = await askAtOnce(key, 50);
    expect(answers.every(({ status }) => status === 404)).toBe(true);
    store.clock.nowMs += minuteMs;
  }
  const refused = await ask(key);
  expect(refused).toMatchObject(code(429, "DAILY_QUOTA_EXCEEDED"));
  expect(refused.rateLimit).toEqual({ limit: 1_000, remaining: 0, reset: midnight / 1_000 });
  expect(refused.headers["retry-after"]).toBe(`${(midnight - store.clock.nowMs) / 1_000 + 1}`);
  store.clock.nowMs = midnight - 1;
  expect((await ask(key)).status).toBe(429);
  store.clock.nowMs = midnight;
  expect(await ask(key)).toMatchObject({ status: 404, rateLimit: { limit: 60, remaining: 59 } });
});

it.each([
  ["its head", 200, "HEAD", "/v1/pets"],
  ["an unknown pet", 404, "GET", "/v1/pets/0"],
  ["an unknown path", 404, "GET", "/elsewhere"],
])("%s (%i) counts once", async (_what, status, method, path) => {
  const { key } = await store.issueKey({ plan: "free" });
  expect(await store.call(method, path, { key })).toMatchObject({ status, rateLimit: { limit: 60, remaining: 59 } });
  expect((await ask(key)).rateLimit.remaining).toBe(58);
});

it("a refused request does not count, neither in the minute nor in the day", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await askAtOnce(key, 80);
  expect((await ask(key)).headers.ratelimit).toContain('"day";r=940;');
  store.clock.nowMs += minuteMs;
  expect((await ask(key)).headers.ratelimit).toBe('"minute";r=59;t=60, "day";r=939;t=43140');
});

it("accounts with the same client address have their own quota", async () => {
  const one = await store.issueKey({ plan: "free" });
  const other = await store.issueKey({ plan: "free" });
  await askAtOnce(one.key, 61);
  expect((await ask(other.key)).rateLimit.remaining).toBe(59);
});
