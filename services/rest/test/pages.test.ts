// What browsers make of the pages is shown in tools/browser; here is what the service says with them.
import { readdir } from "node:fs/promises";
import { problems } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const first = await store.call("GET", "/");
const paths = ["/", "/usage", "/docs/get-pet-removal", "/docs/get-pet-removal.md", "/pages/reference.js"];

describe("a page", () => {
  it.each(paths)("%s needs no key, costs nothing, and reports the quota", async (path) => {
    const { status, rateLimit, headers } = await store.call("GET", path);
    expect(status).toBe(200);
    expect(rateLimit.remaining).toBe(rateLimit.limit);
    expect(headers["x-request-id"]).toBeDefined();
  });

  it.each(paths)("%s runs and loads nothing but what this origin serves", async (path) => {
    const { headers } = await store.call("GET", path);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
  });

  it("is kept by browsers, which ask whether it is current", async () => {
    expect(first.headers["cache-control"]).toBe("no-cache");
    const tag = first.headers.etag ?? "";
    for (const told of [tag, `"other", ${tag}`]) {
      const again = await store.call("GET", "/", { headers: { "If-None-Match": told } });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
    expect((await store.call("GET", "/", { headers: { "If-None-Match": 'W/"other"' } })).status).toBe(200);
  });

  it("is packed for those who take it so, and only for them", async () => {
    expect(first.headers["content-encoding"]).toBeUndefined();
    expect(first.headers.vary).toContain("Accept-Encoding");
    const packed = await fetch(`${store.origin}/`, { headers: { "Accept-Encoding": "gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(await packed.text()).toBe(first.text);
    const refused = await store.call("GET", "/", { headers: { "Accept-Encoding": "gzip;q=0" } });
    expect(refused.text).toBe(first.text);
  });

  it("answers HEAD like GET, without the page", async () => {
    const { status, headers, text } = await store.call("HEAD", "/");
    expect([status, text]).toEqual([200, ""]);
    expect(headers["content-length"]).toBe(first.headers["content-length"]);
  });

  it("is no resource for another method: that is an unknown path, behind the key", async () => {
    expect((await store.call("POST", "/", { body: "{}" })).json).toMatchObject({ code: "API_KEY_MISSING" });
  });

  it("names nothing that is not there", async () => {
    const read = new Set<string>();
    for (const unread = ["/"]; unread.length > 0; ) {
      const page = unread.pop() ?? "";
      read.add(page);
      const response = await fetch(`${store.origin}${page}`);
      expect(response.status, page).toBe(200);
      if (!response.headers.get("content-type")?.startsWith("text/html")) continue;
      for (const [, named = ""] of (await response.text()).matchAll(/(?:href|src)="([^"]*)"/g)) {
        // Elsewhere, or a place of the same page.
        if (/^([a-z]+:|#)/.test(named)) continue;
        const { pathname } = new URL(named, `${store.origin}${page}`);
        if (!read.has(pathname)) unread.push(pathname);
      }
    }
    expect([...read]).toEqual(expect.arrayContaining(["/usage", "/docs/errors", "/docs/limits", "/docs/quickstart"]));
  });

  it("is there for every guide, and links lead from guide to guide", async () => {
    for (const file of await readdir(new URL("../docs/", import.meta.url))) {
      const { status, text } = await store.call("GET", `/docs/${file.replace(/\.md$/, "")}`);
      expect(status, file).toBe(200);
      expect(first.text).toContain(`href="/docs/${file.replace(/\.md$/, "")}"`);
      expect((await store.call("GET", `/docs/${file}`)).text.startsWith("# ")).toBe(true);
      if (file === "quickstart.md") expect(text).toContain('<a href="/docs/errors">All codes</a>');
    }
  });

  it("lists every code, at both doors", async () => {
    const { text } = await store.call("GET", "/docs/errors");
    for (const code of Object.keys(problems)) expect(text).toContain(`<code>${code}</code>`);
  });

  it("shows every operation, and every code it answers, without a script", () => {
    for (const shown of ["listPets", "createPet", "getPet", "IDEMPOTENCY_KEY_REUSED", "API_KEY_BANNED", "Sunset"]) {
      expect(first.text).toContain(shown);
    }
    expect(first.text).not.toMatch(/<script(?! type="module" src=)|style=|onclick=/);
  });
});
