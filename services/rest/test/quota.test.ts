import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const minuteMs = 60_000;
const dayMs = 86_400_000;
const code = (status: number, code: string) => ({ status, json: { code, status } });

/** Gets 404 without a query, and counts like any other request. */
const ask = (key: string): Promise<Answer> => store.call("GET", "/v1/none", { key });
const askAtOnce = (key: string, times: number) => Promise.all(Array.from({ length: times }, () => ask(key)));

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / dayMs) * dayMs + 12 * 3_600_000;
});

describe("the minute of Free", () => {
  it("admits 60 requests, counting Remaining down, and refuses the 61st", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    const reset = (store.clock.nowMs + minuteMs) / 1_000;
    for (let remaining = 59; remaining >= 0; remaining--) {
      expect(await ask(key)).toMatchObject({ status: 404, rateLimit: { limit: 60, remaining, reset } });
    }
    const refused = await ask(key);
    expect(refused).toMatchObject({
      ...code(429, "RATE_LIMIT_EXCEEDED"),
      rateLimit: { limit: 60, remaining: 0, reset },
    });
  });

  it.each([0, 1, 400, 999, 1_000, 30_000, 59_000, 59_001, 59_999])(
    "refused %i ms into the minute, a request made exactly after Retry-After is admitted",
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

  it("ends at its reset: a request is refused a millisecond before, and admitted at the reset", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    await askAtOnce(key, 60);
    store.clock.nowMs += minuteMs - 1;
    expect((await ask(key)).status).toBe(429);
    store.clock.nowMs += 1;
    expect((await ask(key)).rateLimit.remaining).toBe(59);
  });

  it("admits exactly 60 of 200 at once", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    const admitted = (await askAtOnce(key, 200)).filter(({ status }) => status === 404);
    expect(admitted.map(({ rateLimit }) => rateLimit.remaining).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
  });
});

describe("the day of Free", () => {
  it("admits 1,000 requests and answers the next DAILY_QUOTA_EXCEEDED until midnight UTC", async () => {
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
});

describe("what counts", () => {
  const body = '{"name":"Ada","categoryId":1}';
  const requests: [what: string, status: number, method: string, path: string, options: CallOptions][] = [
    ["a list", 200, "GET", "/v1/pets", {}],
    ["its head", 200, "HEAD", "/v1/pets", {}],
    ["a create", 201, "POST", "/v1/pets", { body }],
    ["a refused body", 400, "POST", "/v1/pets", { body: "{" }],
    ["a refused parameter", 400, "GET", "/v1/pets?limit=0", {}],
    ["an unknown pet", 404, "GET", "/v1/pets/0", {}],
    ["an unknown path", 404, "GET", "/elsewhere", {}],
    ["an unknown method", 405, "DELETE", "/v1/pets", {}],
    ["an unacceptable type", 406, "GET", "/v1/pets", { headers: { Accept: "text/html" } }],
    ["a large body", 413, "POST", "/v1/pets", { body: body.padEnd(65_537) }],
    ["a foreign body", 415, "POST", "/v1/pets", { body, headers: { "Content-Type": "text/plain" } }],
  ];

  it.each(requests)("%s (%i) counts once", async (_what, status, method, path, options) => {
    const { key } = await store.issueKey({ plan: "free" });
    const answer = await store.call(method, path, { ...options, key });
    expect(answer).toMatchObject({ status, rateLimit: { limit: 60, remaining: 59 } });
    expect((await ask(key)).rateLimit.remaining).toBe(58);
  });

  it("does not count a refused request, neither in the minute nor in the day", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    await askAtOnce(key, 80);
    expect((await ask(key)).headers.ratelimit).toContain('"day";r=940;');
    store.clock.nowMs += minuteMs;
    expect((await ask(key)).headers.ratelimit).toBe('"minute";r=59;t=60, "day";r=939;t=43140');
  });
});

describe("the three X-RateLimit headers describe one window", () => {
  it.each([
    ["the minute, where it has less left", { perMinute: 5, perDay: 10 }, { limit: 5, remaining: 4 }, minuteMs],
    ["the day, where it has less left", { perMinute: 10, perDay: 5 }, { limit: 5, remaining: 4 }, dayMs / 2],
    [
      "the window that resets later, if both have the same number remaining",
      { perMinute: 5, perDay: 5 },
      { limit: 5, remaining: 4 },
      dayMs / 2,
    ],
  ])("%s", async (_which, customLimits, expected, untilResetMs) => {
    const { key } = await store.issueKey({ customLimits });
    const reset = (store.clock.nowMs + untilResetMs) / 1_000;
    expect((await ask(key)).rateLimit).toEqual({ ...expected, reset });
  });

  it.each([
    ["the minute that refused", { perMinute: 2, perDay: 10 }, "RATE_LIMIT_EXCEEDED", 2, minuteMs],
    ["the day that refused", { perMinute: 10, perDay: 2 }, "DAILY_QUOTA_EXCEEDED", 2, dayMs / 2],
    ["the day, where both refused", { perMinute: 2, perDay: 2 }, "DAILY_QUOTA_EXCEEDED", 2, dayMs / 2],
  ])("%s", async (_which, customLimits, name, limit, untilResetMs) => {
    const { key } = await store.issueKey({ customLimits });
    await askAtOnce(key, 2);
    const refused = await ask(key);
    expect(refused).toMatchObject(code(429, name));
    expect(refused.rateLimit).toEqual({ limit, remaining: 0, reset: (store.clock.nowMs + untilResetMs) / 1_000 });
    expect(refused.headers["retry-after"]).toBe(`${untilResetMs / 1_000 + 1}`);
  });
});

describe("quota per account", () => {
  it("is shared by all keys of an account", async () => {
    const one = await store.issueKey({ plan: "free" });
    const other = await store.issueKey({ accountId: one.accountId });
    await askAtOnce(one.key, 30);
    expect((await ask(other.key)).rateLimit.remaining).toBe(29);
    await askAtOnce(other.key, 29);
    expect((await ask(one.key)).status).toBe(429);
    expect((await ask(other.key)).status).toBe(429);
  });

  it("is not shared by accounts with the same client address", async () => {
    const one = await store.issueKey({ plan: "free" });
    const other = await store.issueKey({ plan: "free" });
    await askAtOnce(one.key, 61);
    expect((await ask(other.key)).rateLimit.remaining).toBe(59);
  });
});
