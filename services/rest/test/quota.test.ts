// The limits of plans and addresses, and what counts. packages/core/test/quota tests the rules of windows and bans, and
// tools/checks/conformance/contract the codes and headers of refusals.
import { describe, expect, it } from "vitest";
import { type Answer, openSharedStore, openTestStore, type TestStore } from "./test-store.js";

const store = await openSharedStore({ TRUST_PROXY: "127.0.0.0/8, 10.1.0.0/16" });

/** Gets 404 without a query, and counts like any other request. */
const callNone = (key: string): Promise<Answer> => store.call("GET", "/v1/none", { key });
const callFrom = (address: string | string[], { call }: TestStore = store): Promise<Answer> =>
  call("GET", "/v1/pets", { headers: { "X-Forwarded-For": address } });

it.each([
  ["free", 60, 1_000],
  ["pro", 300, 10_000],
  ["business", 1_000, 100_000],
] as const)("the plan %s admits %i requests a minute and %i a day", async (plan, perMinute, perDay) => {
  const { key } = await store.issueKey({ plan });
  const answers = await Promise.all(Array.from({ length: perMinute + 1 }, () => callNone(key)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(perMinute).fill(404), 429]);
  expect(answers[0]?.headers["ratelimit-policy"]).toBe(`"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`);
  const reset = store.clock.nowMs / 1_000 + 60;
  expect((await callNone(key)).rateLimit).toEqual({ limit: perMinute, remaining: 0, reset });
});

it("a preflight has no body, and counts neither against its address nor against a key", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
  const from = { ...headers, "X-Forwarded-For": "192.0.2.9" };
  for (const path of ["/v1/pets", "/v1/pets/1"]) {
    const answer = await store.call("OPTIONS", path, { key, headers: from });
    expect(answer).toMatchObject({ status: 204, text: "", rateLimit: { limit: 300, remaining: 300 } });
  }
  expect((await callFrom("192.0.2.9")).rateLimit.remaining).toBe(299);
  expect((await callNone(key)).rateLimit.remaining).toBe(59);
});

describe("an address without a valid key", () => {
  it("has 300 requests a minute and 10,000 a day", async () => {
    const answers = await Promise.all(Array.from({ length: 301 }, () => callFrom("192.0.2.1")));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(300).fill(401), 429]);
    expect(answers[0]?.headers["ratelimit-policy"]).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
  });

  it("is not counted while it sends a valid key, which also works when the address has used up its requests", async () => {
    const { key } = await store.issueKey();
    const headers = { "X-Forwarded-For": "192.0.2.2" };
    const call = () => store.call("GET", "/v1/pets", { key, headers });
    expect((await call()).status).toBe(200);
    expect((await callFrom("192.0.2.2")).rateLimit.remaining).toBe(299);
    await Promise.all(Array.from({ length: 300 }, () => callFrom("192.0.2.2")));
    expect((await call()).status).toBe(200);
  });
});

describe("X-Forwarded-For", () => {
  /** True if requests from both addresses use the same quota. */
  async function share(one: string | string[], other: string | string[], shared: TestStore = store): Promise<boolean> {
    const first = await callFrom(one, shared);
    const second = await callFrom(other, shared);
    return second.rateLimit.remaining === first.rateLimit.remaining - 1;
  }

  it.each([
    ["by default", {}],
    ["from an address that is not in TRUST_PROXY", { TRUST_PROXY: "10.0.0.0/8,fd00::/8" }],
  ])("is ignored %s", async (_when, environment) => {
    await using untrusting = await openTestStore(environment);
    expect(await share("203.0.113.1", "203.0.113.2", untrusting)).toBe(true);
  });

  it.each([
    ["names the client", "203.0.113.3", "203.0.113.4", false],
    ["may begin with addresses that the client invents", "203.0.113.5", "1.2.3.4, 203.0.113.5", true],
    ["may end with trusted proxies", "203.0.113.6", "203.0.113.6, 10.1.2.3", true],
    ["may not end with other proxies", "203.0.113.7", "203.0.113.7, 10.2.2.3", false],
    ["is one list if it is sent twice", "203.0.113.8", ["1.2.3.4", "203.0.113.8"], true],
  ])("behind a trusted proxy %s", async (_rule, one, other, isShared) => {
    expect(await share(one, other)).toBe(isShared);
  });

  it.each(["203.0.113.9:4711", "_hidden", "[2001:db8::1]", "''", "999.1.1.1"])(
    "counts the proxy itself if the last entry is no address (%s)",
    async (address) => {
      expect(await share("unknown", address)).toBe(true);
    },
  );

  it.each(["Forwarded", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP"])("is not replaced by %s", async (name) => {
    const call = (value: string) => store.call("GET", "/v1/pets", { headers: { [name]: value } });
    const first = await call("for=203.0.113.10");
    expect((await call("for=203.0.113.11")).rateLimit.remaining).toBe(first.rateLimit.remaining - 1);
  });
});
