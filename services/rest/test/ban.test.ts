// Bans over HTTP, with the default settings and an injected clock. packages/core/test/quota tests the rules.
import { afterAll, beforeEach, expect, it } from "vitest";
import { type Answer, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const minuteMs = 60_000;
const ask = (key: string): Promise<Answer> => store.call("GET", "/v1/none", { key });
const askAtOnce = (key: string, times: number) => Promise.all(Array.from({ length: times }, () => ask(key)));
const codeOf = ({ json }: Answer) => (json as { code: string }).code;

beforeEach(() => {
  store.clock.nowMs = Math.ceil((store.clock.nowMs + 1) / minuteMs) * minuteMs;
});

it("a key that continues after 429 is banned for a minute, and Retry-After counts down to its end", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await askAtOnce(key, 61);
  // Refusals in the first two seconds are no strikes: these requests were in flight when the quota ran out.
  store.clock.nowMs += 2_001;
  const answers = [];
  for (let strike = 1; strike <= 120; strike++) answers.push(await ask(key));
  expect(answers.map(codeOf)).toEqual([...Array(119).fill("RATE_LIMIT_EXCEEDED"), "API_KEY_BANNED"]);
  const bannedAtMs = store.clock.nowMs;
  for (const [afterMs, seconds] of [
    [0, 61],
    [1, 60],
    [1_000, 60],
    [1_001, 59],
    [40_000, 21],
    [59_000, 2],
  ] as const) {
    store.clock.nowMs = bannedAtMs + afterMs;
    for (const { headers } of await askAtOnce(key, 10)) expect(headers["retry-after"]).toBe(`${seconds}`);
  }
  store.clock.nowMs = bannedAtMs + 59_999;
  expect(codeOf(await ask(key))).toBe("API_KEY_BANNED");
  store.clock.nowMs = bannedAtMs + minuteMs;
  // Requests during the ban used no quota.
  expect(await ask(key)).toMatchObject({ status: 404, rateLimit: { limit: 60, remaining: 59 } });
});

it("a client that waits for Retry-After is never banned", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  for (let round = 0; round < 12; round++) {
    const refused = (await askAtOnce(key, 70)).filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(["RATE_LIMIT_EXCEEDED"]));
    store.clock.nowMs += Number(refused[0]?.headers["retry-after"]) * 1_000;
  }
});
