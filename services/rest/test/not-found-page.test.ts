// A browser that opens an unknown path gets a page. Every other client gets the Error body (routing.test.ts).
import { describe, expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("an unknown path", () => {
  it.each(["GET", "HEAD"])("is a page with status 404 for the %s of a browser, and costs nothing", async (method) => {
    const before = (await store.call("GET", "/")).rateLimit;
    const { status, headers, text, rateLimit } = await store.call(method, "/docs", { headers: { Accept: accept } });
    expect(status).toBe(404);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-request-id": expect.any(String),
    });
    expect(text.includes('<a href="/">')).toBe(method === "GET");
    expect(rateLimit).toEqual(before);
  });

  it("is 404 again if the browser already has the page", async () => {
    const { headers } = await store.call("GET", "/docs", { headers: { Accept: accept } });
    const again = { Accept: accept, "If-None-Match": headers.etag ?? "" };
    expect((await store.call("GET", "/docs", { headers: again })).status).toBe(404);
  });

  it("is 404 at the path of the page, too", async () => {
    expect((await store.call("GET", "/404", { headers: { Accept: accept } })).status).toBe(404);
  });

  it.each([
    ["a path of the REST API", "GET", "/v1/none", accept],
    ["the base path of the REST API", "GET", "/v1", accept],
    ["a path of the GraphQL API", "GET", "/graphql/none", accept],
    ["another method", "POST", "/docs", accept],
    ["any media type", "GET", "/docs", "*/*"],
    ["JSON before HTML", "GET", "/docs", "application/json, text/html;q=0.9"],
    ["an image", "GET", "/favicon.ico", "image/*"],
  ])("is the Error body for %s", async (_what, method, path, accepted) => {
    expect(await store.call(method, path, { headers: { Accept: accepted } })).toMatchObject({
      status: 401,
      json: { code: "API_KEY_MISSING" },
    });
  });

  it("is the Error body for a browser with a key, and costs one unit", async () => {
    const before = (await store.call("GET", "/v1/pets", { key })).rateLimit.remaining;
    const answer = await store.call("GET", "/docs", { key, headers: { Accept: accept } });
    expect(answer).toMatchObject({ status: 404, json: { code: "ROUTE_NOT_FOUND" } });
    expect(answer.rateLimit.remaining).toBe(before - 1);
  });
});
