// Tests the HTTP responses of the pages. tools/checks/browser tests the pages in a browser.
import { readdir } from "node:fs/promises";
import { problems } from "@petstore/core";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore({ TRUST_PROXY: "127.0.0.0/8" });
const page = (path: string, headers: Readonly<Record<string, string>> = {}) => store.call("GET", path, { headers });
const first = await page("/");

it.each(["/", "/usage", "/docs/get-pet-removal", "/docs/get-pet-removal.md", "/pages/reference.js"])(
  "%s needs no key, uses no quota, and allows scripts and styles of this origin only",
  async (path) => {
    const { status, rateLimit, headers } = await page(path);
    expect(status).toBe(200);
    expect(rateLimit.remaining).toBe(rateLimit.limit);
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
  },
);

it("a page is not sent again to a browser that has the current version", async () => {
  expect(first.headers["cache-control"]).toBe("no-cache");
  for (const tags of [first.headers.etag ?? "", `"other", ${first.headers.etag}`]) {
    expect(await page("/", { "If-None-Match": tags })).toMatchObject({ status: 304, text: "" });
  }
  expect((await page("/", { "If-None-Match": 'W/"other"' })).status).toBe(200);
});

it("a page is compressed only for clients that accept gzip", async () => {
  expect(first.headers["content-encoding"]).toBeUndefined();
  expect(first.headers.vary).toContain("Accept-Encoding");
  const compressed = await fetch(`${store.origin}/`, { headers: { "Accept-Encoding": "gzip" } });
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(await compressed.text()).toBe(first.text);
  expect((await page("/", { "Accept-Encoding": "gzip;q=0" })).text).toBe(first.text);
});

it("a page answers HEAD like GET without a body, and other methods like an unknown path", async () => {
  const { status, headers, text } = await store.call("HEAD", "/");
  expect([status, headers["content-length"], text]).toEqual([200, first.headers["content-length"], ""]);
  expect((await store.call("POST", "/", { body: "{}" })).json).toMatchObject({ code: "API_KEY_MISSING" });
});

it("every guide is a page, and is there as Markdown", async () => {
  const files = await readdir(new URL("../docs/", import.meta.url));
  // The contract is a file of the repository alone.
  for (const file of files.filter((name) => name !== "interface.md")) {
    expect((await page(`/docs/${file.replace(/\.md$/, "")}`)).status, file).toBe(200);
    expect((await page(`/docs/${file}`)).text.startsWith("# ")).toBe(true);
  }
});

it("the list of errors has every code of both APIs", async () => {
  const { text } = await page("/docs/errors");
  for (const code of Object.keys(problems)) expect(text).toContain(`<code>${code}</code>`);
});

it("an address that loads more than 600 files in a minute is refused, and no other", async () => {
  const load = (address: string, path = "/pages/reference.js") => page(path, { "X-Forwarded-For": address });
  const loaded = await Promise.all(Array.from({ length: 600 }, () => load("192.0.2.1")));
  expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await load("192.0.2.1", "/openapi.json")).toMatchObject({
    status: 429,
    json: { code: "RATE_LIMIT_EXCEEDED", message: "An address may load 600 files a minute.", status: 429 },
    headers: { "retry-after": "61", "content-type": "application/json; charset=utf-8" },
    rateLimit: { limit: 600, remaining: 0, reset: store.clock.nowMs / 1_000 + 60 },
  });
  expect((await load("192.0.2.2")).status).toBe(200);
  expect((await load("192.0.2.1", "/v1/pets")).status).toBe(401);
  store.clock.nowMs += 61_000;
  expect((await load("192.0.2.1")).status).toBe(200);
});
