import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const built = await readFile(new URL("../node_modules/@petstore/client/dist/petstore-client.tgz", import.meta.url));

it("redirects to the built client, whose path has its digest, and whose response can be kept for ever", async () => {
  const redirect = await store.call("GET", "/petstore-client.tgz");
  expect(redirect).toMatchObject({ status: 302, headers: { "cache-control": "no-store" } });
  expect(redirect.rateLimit.remaining).toBe(redirect.rateLimit.limit);
  const { location } = redirect.headers;
  const digest = createHash("sha256").update(built).digest("hex");
  expect(location).toBe(`/petstore-client-${digest.slice(0, 16)}.tgz`);
  const file = await fetch(`${store.origin}${location}`, { headers: { "Accept-Encoding": "gzip" } });
  expect(file.status).toBe(200);
  expect(Object.fromEntries(file.headers)).toMatchObject({
    "content-type": "application/gzip",
    "cache-control": "max-age=31536000, immutable",
  });
  // The package is compressed already.
  expect(file.headers.get("content-encoding")).toBeNull();
  expect(Buffer.from(await file.arrayBuffer()).equals(built)).toBe(true);
});
