// Tests the HTTP responses of GraphiQL. tools/checks/browser tests it in a browser.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { text, ...page } = await store.call("GET", "/");

it("is at the root of the GraphQL service, needs no key and costs nothing; its policy forbids other code", async () => {
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

it("every link and file of GraphiQL and of the quickstart exists on this origin", async () => {
  expect(text).toContain('href="/docs/graphql/quickstart"');
  const quickstart = (await store.call("GET", "/docs/graphql/quickstart")).text;
  expect(quickstart).toContain('href="/docs/errors"');
  for (const [, path = ""] of (text + quickstart).matchAll(/(?:href|src)="([^"#]*)"/g)) {
    if (path === "" || /^https?:/.test(path)) continue;
    expect((await fetch(`${store.origin}${path}`)).status, path).toBe(200);
  }
});
