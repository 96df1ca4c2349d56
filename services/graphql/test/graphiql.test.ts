// Tests the HTTP responses of GraphiQL. tools/browser tests it in a browser.
import { afterAll, describe, expect, it } from "vitest";
import { openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());

describe("GraphiQL", () => {
  it("is at the root of the GraphQL service, needs no key to load, and costs nothing", async () => {
    const first = await store.call("GET", "/");
    const { status, headers, text, rateLimit } = await store.call("GET", "/");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(text).toContain('<div id="graphiql"></div>');
    expect(rateLimit).toEqual(first.rateLimit);
    expect(rateLimit.remaining).toBe(rateLimit.limit);
  });

  it("loads files of this origin only, and its policy forbids inline scripts and eval", async () => {
    const { text, headers } = await store.call("GET", "/");
    const named = [...text.matchAll(/(?:href|src)="([^"#]*)"/g)].map(([, address]) => address ?? "");
    expect(named).toContain("/pages/vendor-graphiql.js");
    for (const address of named) expect((await fetch(`${store.origin}${address}`)).status, address).toBe(200);
    expect(headers["content-security-policy"]).toContain("script-src 'self';");
    expect(headers["content-security-policy"]).not.toMatch(/unsafe-eval|https?:|\*/);
  });

  it("links to the quickstart and the error codes, and every link works", async () => {
    const { text } = await store.call("GET", "/");
    const quickstart = (await store.call("GET", "/docs/graphql/quickstart")).text;
    for (const page of [text, quickstart]) {
      expect(page).toContain('href="/docs/graphql/quickstart"');
      expect(page).toContain('href="/docs/errors"');
      for (const [, path] of page.matchAll(/href="(\/[^"#]*)"/g)) {
        expect((await fetch(`${store.origin}${path}`)).status, path).toBe(200);
      }
    }
    expect(quickstart).not.toMatch(/href="\./);
    expect(quickstart).toContain("relayStylePagination");
  });

  it("shows the schema only with a key", async () => {
    const body = '{"query":"{ __schema { queryType { name } } }"}';
    expect((await store.call("POST", "/graphql", { body })).status).toBe(401);
    const { key } = await store.issueKey();
    expect((await store.call("POST", "/graphql", { body, key })).json).toMatchObject({
      data: { __schema: { queryType: { name: "Query" } } },
    });
  });
});
