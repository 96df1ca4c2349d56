// Tests the HTTP responses of GraphiQL and the schema. tools/checks/browser tests GraphiQL in a browser.
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

it("GraphiQL is at /graphiql, needs no key and costs nothing; its policy forbids other code", async () => {
  const { text, ...page } = await store.call("GET", "/graphiql");
  expect(page.status).toBe(200);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(text).toContain('<div id="graphiql"></div>');
  expect(page.rateLimit.remaining).toBe(page.rateLimit.limit);
  expect(page.headers["content-security-policy"]).toContain("script-src 'self';");
  expect(page.headers["content-security-policy"]).not.toMatch(/unsafe-eval|https?:|\*/);
});

it("the schema needs no key, and is the same as schema.graphql", async () => {
  const { text } = await store.call("GET", "/schema.graphql");
  await expect(text).toMatchFileSnapshot("../schema.graphql");
});

it("the root of the GraphQL service leads to GraphiQL, at no cost", async () => {
  const { status, headers, rateLimit } = await store.call("GET", "/");
  expect([status, headers.location]).toEqual([302, "/graphiql"]);
  expect(rateLimit.remaining).toBe(rateLimit.limit);
});
