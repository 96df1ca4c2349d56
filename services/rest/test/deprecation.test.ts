import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
await store.execute("insert into pets (name, category_id, status) values ('Ada', 1, 'sold')");
const removedAtMs = Date.parse("2030-12-05T00:00:00Z");

const announcement = {
  deprecation: `@${Date.UTC(2026, 10, 20) / 1_000}`,
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  // The links of an error end with the link to its explanation.
  link: expect.stringMatching(
    /^<\/docs\/get-pet-removal\.md>; rel="deprecation"; type="text\/markdown", <\/v1\/pets>; rel="successor-version"(, |$)/,
  ),
};

// tools/checks/openapi tests the other documented responses, and
// services/standalone/test/static-files.test.ts that the notice needs no key.
it.each([
  ["a millisecond before the removal", 200, "GET", "/v1/pets/1", removedAtMs - 1],
  ["at the removal", 410, "GET", "/v1/pets/1", removedAtMs],
  ["years after the removal", 410, "HEAD", "/v1/pets/abc", Date.UTC(2040, 0, 1)],
  ["years after the removal", 405, "DELETE", "/v1/pets/1", Date.UTC(2040, 0, 1)],
])(
  "%s, %i to %s %s has Deprecation, Sunset, and links to the notice and the replacement, and counts",
  async (_when, status, method, path, nowMs) => {
    const caller = await store.issueKey({ plan: "free" });
    store.clock.nowMs = nowMs;
    const answer = await store.call(method, path, caller);
    expect(answer).toMatchObject({ status, headers: announcement, rateLimit: { remaining: 59 } });
  },
);

it("the removal changes no other endpoint", async () => {
  const { key } = await store.issueKey();
  expect((await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' })).status).toBe(201);
  expect((await store.call("GET", "/v1/pets?status=available", { key })).status).toBe(200);
});
