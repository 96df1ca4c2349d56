// Programs on a page of another origin, whose requests Chromium sends only if the answer to its preflight allows their headers.
import { fileURLToPath } from "node:url";
import type * as Apollo from "@apollo/client";
import { openHttpServer } from "@petstore/harness/network";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { describe, expect } from "vitest";
import { it as base } from "./it.js";

/** A window on a page of another origin, and the headers of the requests that it sent to the store. */
interface Application {
  readonly page: Page;
  readonly sent: Record<string, string>[];
}

const it = base.extend<{ application: Application }>({
  application: async ({ store }, use) => {
    await using server = await openHttpServer((_req, res) => {
      res.setHeader("Content-Type", "text/html").end("<!doctype html><title>Application</title>");
    });
    const page = await store.browser.newPage();
    const sent: Record<string, string>[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(store.origin)) sent.push(request.headers());
    });
    await page.goto(server.url);
    await use({ page, sent });
    await page.close();
  },
});

describe("a page of another origin", { tags: ["chromium"] }, () => {
  it("can use Apollo Client with client awareness", async ({ store, application: { page, sent } }) => {
    await page.addScriptTag({ content: await bundleOfApolloClient() });
    const options = { uri: `${store.origin}/graphql`, key: await store.issueKey() };
    const data = await page.evaluate(async ({ uri, key }) => {
      const { ApolloClient, HttpLink, InMemoryCache, gql } = (globalThis as unknown as { apollo: typeof Apollo })
        .apollo;
      const client = new ApolloClient({
        link: new HttpLink({ uri, headers: { Authorization: `Bearer ${key}` } }),
        cache: new InMemoryCache(),
        clientAwareness: { name: "web", version: "1.2.3" },
      });
      return (await client.query({ query: gql("{ pets { id } }") })).data;
    }, options);
    expect(data).toEqual({ pets: [] });
    expect(sent).toMatchObject([{ "apollographql-client-name": "web", "apollographql-client-version": "1.2.3" }]);
  });

  it("can trace its requests, and read the limits", async ({ store, application: { page, sent } }) => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const options = { url: `${store.origin}/v1/pets`, key: await store.issueKey(), traceparent };
    const answer = await page.evaluate(async ({ url, key, ...trace }) => {
      const response = await fetch(url, { headers: { Authorization: `Bearer ${key}`, "sentry-trace": "1", ...trace } });
      return [response.status, response.headers.get("X-RateLimit-Limit")];
    }, options);
    expect(answer).toEqual([200, "60"]);
    expect(sent).toMatchObject([{ traceparent, "sentry-trace": "1" }]);
  });
});

/** A script that defines `apollo`. */
async function bundleOfApolloClient(): Promise<string> {
  await using build = await rolldown({
    input: fileURLToPath(import.meta.resolve("@apollo/client")),
    platform: "browser",
  });
  const { output } = await build.generate({ format: "iife", name: "apollo" });
  return output[0].code;
}
