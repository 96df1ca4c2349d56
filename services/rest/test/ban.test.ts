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

/** Uses up the minute, and sends requests after the two seconds without strikes. The last response is the ban. */
async function hammer(key: string): Promise<Answer> {
  await askAtOnce(key, 61);
  store.clock.nowMs += 2_001;
  const answers = [];
  for (let strike = 1; strike <= 120; strike++) answers.push(await ask(key));
  expect(answers.map(codeOf)).toEqual([...Array(119).fill("RATE_LIMIT_EXCEEDED"), "API_KEY_BANNED"]);
  return answers[119] as Answer;
}

it("bans a key that keeps sending requests after 429 for a minute, with Retry-After", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  const banned = await hammer(key);
  expect(banned.json).toEqual({ code: "API_KEY_BANNED", message: expect.stringContaining("Retry-After"), status: 429 });
  expect(banned.headers["retry-after"]).toBe("61");
  store.clock.nowMs += 59_999;
  expect(codeOf(await ask(key))).toBe("API_KEY_BANNED");
  store.clock.nowMs += 1;
  expect(codeOf(await ask(key))).toBe("ROUTE_NOT_FOUND");
});

it("counts Retry-After down during the ban, and admits a request exactly at its end", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await hammer(key);
  const bannedAtMs = store.clock.nowMs;
  for (const [afterMs, seconds] of [
    [0, 61],
    [1, 60],
    [1_000, 60],
    [1_001, 59],
    [9_000, 52],
    [40_000, 21],
  ] as const) {
    store.clock.nowMs = bannedAtMs + afterMs;
    expect((await ask(key)).headers["retry-after"], `after ${afterMs} ms`).toBe(`${seconds}`);
  }
  store.clock.nowMs = bannedAtMs + 58_500;
  const { headers } = await ask(key);
  expect(headers["retry-after"]).toBe("2");
  store.clock.nowMs += 2_000;
  expect(codeOf(await ask(key))).toBe("ROUTE_NOT_FOUND");
});

it("does not extend the ban or use quota for requests during the ban", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await hammer(key);
  store.clock.nowMs += 59_000;
  for (const answer of await askAtOnce(key, 200)) expect(answer.headers["retry-after"]).toBe("2");
  store.clock.nowMs += 1_000;
  const admitted = await ask(key);
  expect(admitted.rateLimit).toMatchObject({ limit: 60, remaining: 59 });
  expect(admitted.headers.ratelimit).toContain('"day";r=939;');
});

it("bans only this key: another key of the account works in the next minute", async () => {
  const one = await store.issueKey({ plan: "free" });
  const sibling = await store.issueKey({ accountId: one.accountId });
  await hammer(one.key);
  expect(codeOf(await ask(sibling.key))).toBe("RATE_LIMIT_EXCEEDED");
  store.clock.nowMs += minuteMs - 2_001;
  expect(codeOf(await ask(one.key))).toBe("API_KEY_BANNED");
  expect(codeOf(await ask(sibling.key))).toBe("ROUTE_NOT_FOUND");
});

it("makes the next ban of a key twice as long", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await hammer(key);
  store.clock.nowMs = Math.ceil((store.clock.nowMs + minuteMs) / minuteMs) * minuteMs;
  expect((await hammer(key)).headers["retry-after"]).toBe("121");
});

it("refuses a banned key at every endpoint, with the quota headers", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await hammer(key);
  for (const [method, path] of [
    ["GET", "/v1/pets"],
    ["POST", "/v1/pets"],
    ["GET", "/v1/pets/1"],
    ["PUT", "/x"],
  ] as const) {
    const answer = await store.call(method, path, { key, ...(method === "POST" && { body: "{}" }) });
    expect([answer.status, codeOf(answer)]).toEqual([429, "API_KEY_BANNED"]);
    expect(answer.rateLimit).toMatchObject({ limit: 60, remaining: 0 });
  }
});

it("does not ban for requests that were in flight when the quota ran out", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  const codes = (await askAtOnce(key, 250)).map(codeOf);
  expect(new Set(codes)).toEqual(new Set(["ROUTE_NOT_FOUND", "RATE_LIMIT_EXCEEDED"]));
});

it("does not ban a Free key that 120 programs share, with one refusal each", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await askAtOnce(key, 60);
  for (let program = 1; program <= 120; program++) {
    store.clock.nowMs += 400;
    expect(codeOf(await ask(key))).toBe("RATE_LIMIT_EXCEEDED");
  }
});

it("never bans a client that waits for Retry-After", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  for (let round = 0; round < 12; round++) {
    const answers = await askAtOnce(key, 70);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(["RATE_LIMIT_EXCEEDED"]));
    store.clock.nowMs += Number(refused[0]?.headers["retry-after"]) * 1_000;
  }
});
