// Requests without a valid key are counted against the client's address. A trusted proxy lets the tests use any address.
import { afterAll, describe, expect, it } from "vitest";
import { type Answer, openTestStore, type TestStore } from "./test-store.js";

const behindProxy = await openTestStore({ environment: { TRUST_PROXY: "127.0.0.0/8, 10.1.0.0/16" } });
afterAll(() => behindProxy[Symbol.asyncDispose]());

const askFrom = (address: string, store: TestStore = behindProxy): Promise<Answer> =>
  store.call("GET", "/v1/pets", { headers: { "X-Forwarded-For": address } });

/** True if requests from both addresses use the same quota. */
async function share(one: string, other: string, store: TestStore = behindProxy): Promise<boolean> {
  const first = await askFrom(one, store);
  const second = await askFrom(other, store);
  return second.rateLimit.remaining === first.rateLimit.remaining - 1;
}

describe("an address without a key", () => {
  it("has 300 requests a minute, answered 401, and then 429 with Retry-After", async () => {
    const first = await askFrom("192.0.2.1");
    expect(first).toMatchObject({ status: 401, rateLimit: { limit: 300, remaining: 299 } });
    expect(first.headers["ratelimit-policy"]).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
    const rest = await Promise.all(Array.from({ length: 299 }, () => askFrom("192.0.2.1")));
    expect(rest.every(({ status }) => status === 401)).toBe(true);
    const refused = await askFrom("192.0.2.1");
    expect(refused).toMatchObject({ status: 429, json: { code: "RATE_LIMIT_EXCEEDED" } });
    expect(refused.headers["www-authenticate"]).toBeUndefined();
    behindProxy.clock.nowMs += Number(refused.headers["retry-after"]) * 1_000;
    expect((await askFrom("192.0.2.1")).status).toBe(401);
  });

  it("gets 429 while it guesses keys, and a valid key from the same address still works", async () => {
    const { key } = await behindProxy.issueKey();
    const headers = { "X-Forwarded-For": "192.0.2.2" };
    const guess = () => behindProxy.call("GET", "/v1/pets", { key: "guess", headers });
    const statuses = (await Promise.all(Array.from({ length: 302 }, guess))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect((await behindProxy.call("GET", "/v1/pets", { key, headers })).status).toBe(200);
  });

  it("is not counted if the request has a valid key", async () => {
    const { key } = await behindProxy.issueKey();
    await behindProxy.call("GET", "/v1/pets", { key, headers: { "X-Forwarded-For": "192.0.2.3" } });
    expect((await askFrom("192.0.2.3")).rateLimit.remaining).toBe(299);
  });

  it("is never banned", async () => {
    await Promise.all(Array.from({ length: 301 }, () => askFrom("192.0.2.4")));
    behindProxy.clock.nowMs += 2_001;
    const answers = await Promise.all(Array.from({ length: 150 }, () => askFrom("192.0.2.4")));
    const codes = answers.map(({ json }) => (json as { code: string }).code);
    expect(new Set(codes)).toEqual(new Set(["RATE_LIMIT_EXCEEDED"]));
  });

  it("has the limits that are configured", async () => {
    const environment = { ANONYMOUS_REQUESTS_PER_MINUTE: "3", ANONYMOUS_REQUESTS_PER_DAY: "2" };
    await using strict = await openTestStore({ environment });
    const answers = [];
    for (let count = 0; count < 3; count++) answers.push(await strict.call("GET", "/v1/pets"));
    expect(answers.map(({ json }) => (json as { code: string }).code)).toEqual([
      "API_KEY_MISSING",
      "API_KEY_MISSING",
      "DAILY_QUOTA_EXCEEDED",
    ]);
  });
});

describe("X-Forwarded-For", () => {
  it("is ignored by default", async () => {
    await using alone = await openTestStore();
    expect(await share("203.0.113.1", "203.0.113.2", alone)).toBe(true);
  });

  it("is ignored from an address that is not in TRUST_PROXY", async () => {
    await using elsewhere = await openTestStore({ environment: { TRUST_PROXY: "10.0.0.0/8,fd00::/8" } });
    expect(await share("203.0.113.1", "203.0.113.2", elsewhere)).toBe(true);
  });

  it("is honoured from an address in TRUST_PROXY", async () => {
    expect(await share("203.0.113.3", "203.0.113.4")).toBe(false);
  });

  it("counts the last address that a trusted proxy added, and ignores the addresses before it", async () => {
    expect(await share("203.0.113.5", "1.2.3.4, 203.0.113.5")).toBe(true);
    expect(await share("203.0.113.6", "203.0.113.6, 10.1.2.3")).toBe(true);
    expect(await share("203.0.113.7", "203.0.113.7, 10.2.2.3")).toBe(false);
  });

  it("is read as one list if it is sent twice", async () => {
    const first = await askFrom("203.0.113.8");
    const headers = { "X-Forwarded-For": ["1.2.3.4", "203.0.113.8"] };
    const second = await behindProxy.call("GET", "/v1/pets", { headers });
    expect(second.rateLimit.remaining).toBe(first.rateLimit.remaining - 1);
  });

  it.each(["unknown", "203.0.113.9:4711", "_hidden", "[2001:db8::1]", "''", "999.1.1.1"])(
    "counts the proxy itself if the last entry is not an address (%s)",
    async (address) => {
      const plain = await behindProxy.call("GET", "/v1/pets");
      expect((await askFrom(address)).rateLimit.remaining).toBe(plain.rateLimit.remaining - 1);
    },
  );

  it.each(["Forwarded", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP"])("is not replaced by %s", async (name) => {
    const ask = (value: string) => behindProxy.call("GET", "/v1/pets", { headers: { [name]: value } });
    const first = await ask("for=203.0.113.10");
    expect((await ask("for=203.0.113.11")).rateLimit.remaining).toBe(first.rateLimit.remaining - 1);
  });
});
