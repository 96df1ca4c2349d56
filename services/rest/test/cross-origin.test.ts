// A preflight is free. tools/checks/conformance/contract tests the CORS headers of both APIs.
import { afterAll, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());

const headers = { Origin: "https://shop.example", "Access-Control-Request-Method": "POST" };
const askForPermission = (path = "/v1/pets") => store.call("OPTIONS", path, { headers });

it.each(["/v1/pets", "/v1/pets/1"])("a preflight of %s needs no key and has no body", async (path) => {
  expect(await askForPermission(path)).toMatchObject({ status: 204, text: "" });
});

it("a preflight does not count against its address, and reports the quota of the address", async () => {
  for (let count = 0; count < 5; count++) {
    const reset = store.clock.nowMs / 1_000 + 60;
    expect((await askForPermission()).rateLimit).toEqual({ limit: 300, remaining: 300, reset });
  }
  expect((await store.call("GET", "/v1/pets")).rateLimit.remaining).toBe(299);
  expect((await askForPermission()).rateLimit.remaining).toBe(299);
});

it("a preflight does not count against a key", async () => {
  const { key } = await store.issueKey({ plan: "free" });
  await store.call("OPTIONS", "/v1/pets", { key, headers });
  expect((await store.call("GET", "/v1/pets", { key })).rateLimit.remaining).toBe(59);
});
