// Tests the HTTP responses of the pages. tools/browser tests the pages in a browser.
import { readdir } from "node:fs/promises";
import { problems } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { openTestStore, type TestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const first = await store.call("GET", "/");
const paths = ["/", "/usage", "/docs/get-pet-removal", "/docs/get-pet-removal.md", "/pages/reference.js"];

describe("a page", () => {
  it.each(paths)("%s needs no key, uses no quota, and reports the quota", async (path) => {
    const { status, rateLimit, headers } = await store.call("GET", path);
    expect(status).toBe(200);
    expect(rateLimit.remaining).toBe(rateLimit.limit);
    expect(headers["x-request-id"]).toBeDefined();
  });

  it.each(paths)("%s has a policy that allows scripts and styles of this origin only", async (path) => {
    const { headers } = await store.call("GET", path);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
  });

  it("answers 304 if the browser has the current version", async () => {
    expect(first.headers["cache-control"]).toBe("no-cache");
    const tag = first.headers.etag ?? "";
    for (const tags of [tag, `"other", ${tag}`]) {
      const again = await store.call("GET", "/", { headers: { "If-None-Match": tags } });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
    expect((await store.call("GET", "/", { headers: { "If-None-Match": 'W/"other"' } })).status).toBe(200);
  });

  it("is compressed only for clients that accept gzip", async () => {
    expect(first.headers["content-encoding"]).toBeUndefined();
    expect(first.headers.vary).toContain("Accept-Encoding");
    const compressed = await fetch(`${store.origin}/`, { headers: { "Accept-Encoding": "gzip" } });
    expect(compressed.headers.get("content-encoding")).toBe("gzip");
    expect(await compressed.text()).toBe(first.text);
    const uncompressed = await store.call("GET", "/", { headers: { "Accept-Encoding": "gzip;q=0" } });
    expect(uncompressed.text).toBe(first.text);
  });

  it("answers HEAD like GET, without a body", async () => {
    const { status, headers, text } = await store.call("HEAD", "/");
    expect([status, text]).toEqual([200, ""]);
    expect(headers["content-length"]).toBe(first.headers["content-length"]);
  });

  it("answers other methods like an unknown path, which needs a key", async () => {
    expect((await store.call("POST", "/", { body: "{}" })).json).toMatchObject({ code: "API_KEY_MISSING" });
  });

  it("links only to files that exist", async () => {
    const visited = new Set<string>();
    for (const queue = ["/"]; queue.length > 0; ) {
      const page = queue.pop() ?? "";
      visited.add(page);
      const response = await fetch(`${store.origin}${page}`);
      expect(response.status, page).toBe(200);
      if (!response.headers.get("content-type")?.startsWith("text/html")) continue;
      for (const [, link = ""] of (await response.text()).matchAll(/(?:href|src)="([^"]*)"/g)) {
        // An external link, or a link within the page.
        if (/^([a-z]+:|#)/.test(link)) continue;
        const { pathname } = new URL(link, `${store.origin}${page}`);
        if (!visited.has(pathname)) queue.push(pathname);
      }
    }
    expect([...visited]).toEqual(
      expect.arrayContaining(["/usage", "/docs/errors", "/docs/limits", "/docs/quickstart"]),
    );
  });

  it("exists for every guide, and guides link to each other", async () => {
    for (const file of await readdir(new URL("../docs/", import.meta.url))) {
      const { status, text } = await store.call("GET", `/docs/${file.replace(/\.md$/, "")}`);
      expect(status, file).toBe(200);
      expect(first.text).toContain(`href="/docs/${file.replace(/\.md$/, "")}"`);
      expect((await store.call("GET", `/docs/${file}`)).text.startsWith("# ")).toBe(true);
      if (file === "quickstart.md") expect(text).toContain('<a href="/docs/errors">All codes</a>');
    }
  });

  it("lists every error code of both APIs", async () => {
    const { text } = await store.call("GET", "/docs/errors");
    for (const code of Object.keys(problems)) expect(text).toContain(`<code>${code}</code>`);
  });

  it("shows every operation and its error codes without a script", () => {
    for (const text of ["listPets", "createPet", "getPet", "IDEMPOTENCY_KEY_REUSED", "API_KEY_BANNED", "Sunset"]) {
      expect(first.text).toContain(text);
    }
    expect(first.text).not.toMatch(/<script(?! type="module" src=)|style=|onclick=/);
  });
});

describe("the files of the pages", () => {
  const load = (store: TestStore, address: string, path = "/pages/reference.js") =>
    store.call("GET", path, { headers: { "X-Forwarded-For": address } });

  it("are refused to an address that loads more than 600 in a minute, and to no other", async () => {
    await using store = await openTestStore({ environment: { TRUST_PROXY: "127.0.0.0/8" } });
    const loaded = await Promise.all(Array.from({ length: 600 }, () => load(store, "192.0.2.1")));
    expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await load(store, "192.0.2.1", "/openapi.json");
    expect(refused).toMatchObject({
      status: 429,
      json: { code: "RATE_LIMIT_EXCEEDED", message: "An address may load 600 files a minute.", status: 429 },
      headers: { "retry-after": "61", "content-type": "application/json; charset=utf-8" },
      rateLimit: { limit: 600, remaining: 0, reset: store.clock.nowMs / 1_000 + 60 },
    });
    expect((await load(store, "192.0.2.2")).status).toBe(200);
    expect((await load(store, "192.0.2.1", "/v1/pets")).status).toBe(401);
    store.clock.nowMs += 61_000;
    expect((await load(store, "192.0.2.1")).status).toBe(200);
  });
});
