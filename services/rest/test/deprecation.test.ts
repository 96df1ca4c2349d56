import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' });

const startedAtMs = store.clock.nowMs;
const removedAtMs = Date.parse("2030-12-05T00:00:00Z");
beforeEach(() => {
  store.clock.nowMs = startedAtMs;
});

const announcement = {
  deprecation: "@1795132800",
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  link: '</docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown", ' + '</v1/pets>; rel="successor-version"',
};

describe("before the removal", () => {
  // tools/openapi tests that each documented response has these headers.
  it.each([
    [200, "GET", "/v1/pets/1"],
    [200, "HEAD", "/v1/pets/1"],
    [404, "GET", "/v1/pets/abc"],
    [405, "DELETE", "/v1/pets/1"],
  ])(
    "%i to %s %s has Deprecation, Sunset, and links to the notice and the replacement",
    async (status, method, path) => {
      const answer = await store.call(method, path, { key });
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject(announcement);
    },
  );

  it("Deprecation is 20 November 2026, 00:00 UTC, before Sunset", () => {
    expect(Date.UTC(2026, 10, 20) / 1_000).toBe(1_795_132_800);
  });

  it.each(["/v1/pets", "/v1/pets/", "/v1/pets/1/", "/v1/pets/1/owner", "/v1/none", "/pets/1"])(
    "%s, which is not deprecated, has none of these headers",
    async (path) => {
      const { headers } = await store.call("GET", path, { key });
      expect([headers.deprecation, headers.sunset, headers.link]).toEqual([undefined, undefined, undefined]);
    },
  );
});

describe("the removal", () => {
  const at = (nowMs: number, path = "/v1/pets/1", method = "GET"): Promise<Answer> => {
    store.clock.nowMs = nowMs;
    return store.call(method, path, { key });
  };

  it("is at 2030-12-05T00:00:00Z, to the millisecond", async () => {
    expect((await at(removedAtMs - 1)).status).toBe(200);
    expect((await at(removedAtMs)).status).toBe(410);
    expect((await at(removedAtMs + 1)).status).toBe(410);
    expect((await at(Date.UTC(2040, 0, 1))).status).toBe(410);
  });

  it.each(["/v1/pets/1", "/v1/pets/999999", "/v1/pets/abc"])(
    "makes %s 410, with the same links and the quota headers",
    async (path) => {
      const answer = await at(removedAtMs, path);
      expect(answer).toMatchObject({
        status: 410,
        json: { code: "ENDPOINT_REMOVED", message: expect.any(String), status: 410 },
      });
      expect(answer.headers).toMatchObject(announcement);
      expect(answer.rateLimit.limit).toBeGreaterThan(0);
    },
  );

  it("makes HEAD 410; DELETE is still 405, and a request without a key 401", async () => {
    expect((await at(removedAtMs, "/v1/pets/1", "HEAD")).status).toBe(410);
    expect((await at(removedAtMs, "/v1/pets/1", "DELETE")).status).toBe(405);
    const answer = await store.call("GET", "/v1/pets/1");
    expect(answer.status).toBe(401);
    expect(answer.headers).toMatchObject(announcement);
  });

  it("changes no other endpoint", async () => {
    expect((await at(removedAtMs, "/v1/pets?status=available")).status).toBe(200);
    expect((await store.call("POST", "/v1/pets", { key, body: '{"name":"Bo","categoryId":1}' })).status).toBe(201);
  });

  it("counts each request as before", async () => {
    const { key: free } = await store.issueKey({ plan: "free" });
    store.clock.nowMs = removedAtMs;
    expect((await store.call("GET", "/v1/pets/1", { key: free })).rateLimit.remaining).toBe(59);
  });
});

describe("the notice in Link", () => {
  const noticePath = "/docs/get-pet-removal.md";

  it("needs no key, is Markdown, and contains the date and the replacement", async () => {
    const { status, headers, text } = await store.call("GET", noticePath);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(text).toContain("5 December 2030");
    expect(text).toContain("GET /pets");
    expect((await store.call("HEAD", noticePath)).status).toBe(200);
  });

  it("uses no quota, neither of the address nor of a key", async () => {
    const { key: free } = await store.issueKey({ plan: "free" });
    const before = (await store.call("GET", noticePath)).rateLimit;
    expect((await store.call("GET", noticePath, { key: free })).rateLimit).toEqual(before);
    expect((await store.call("GET", noticePath)).rateLimit).toEqual(before);
    expect((await store.call("GET", "/v1/pets", { key: free })).rateLimit.remaining).toBe(59);
  });

  it("is still available after the removal", async () => {
    store.clock.nowMs = removedAtMs + 1;
    expect((await store.call("GET", noticePath)).status).toBe(200);
  });
});
