// Tests the HTTP responses of GraphiQL. tools/checks/browser tests it in a browser.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

it("is at /graphiql, needs no key and costs nothing; its policy forbids other code", async () => {
  const { text, ...page } = await store.call("GET", "/graphiql");
  expect(page.status).toBe(200);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(text).toContain('<div id="graphiql"></div>');
  expect(page.rateLimit.remaining).toBe(page.rateLimit.limit);
  expect(page.headers["content-security-policy"]).toContain("script-src 'self';");
  expect(page.headers["content-security-policy"]).not.toMatch(/unsafe-eval|https?:|\*/);
});

it("is served together with the schema, which needs no key either", async () => {
  const schema = await store.call("GET", "/schema.graphql");
  expect(schema.text).toBe(await readFile(new URL("../schema.graphql", import.meta.url), "utf8"));
});

it("is where the root of the GraphQL service leads, at no cost", async () => {
  const { status, headers, rateLimit } = await store.call("GET", "/");
  expect([status, headers.location]).toEqual([302, "/graphiql"]);
  expect(rateLimit.remaining).toBe(rateLimit.limit);
});
