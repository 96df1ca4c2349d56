// Paths, methods, queries and links of REST. tools/checks/conformance/contract tests what the APIs have in common.
import { describe, expect, it } from "vitest";
import { type Answer, openSharedStore, openTestStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();
await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' });

const problem = (status: number, code: string) => ({ status, json: { code, message: expect.any(String), status } });

it.each([
  ...["/v1", "/v1/", "/v1/pets/", "/v1/pets/1/owner", "//v1/pets", "/V1/pets", "/v1/pets%2F1", "/pets", "/v2/pets"],
  ...["//", "/v1//pets", "/v1/Pets", "/v1/pets/1/", "/v1/pets.json", "/v1/pets;limit=1", "/v1/pets/%C3%28"],
  ...["/v1/%zz", "/v1/pets/%zz", "/v1/orders", "/v1/categories", "/v1/events"],
])("the unknown path %s is 404 like any other, and 401 without a key", async (path) => {
  const { text } = await store.call("GET", "/v1/none", { key });
  expect(await store.call("GET", path, { key })).toMatchObject({ ...problem(404, "ROUTE_NOT_FOUND"), text });
  expect(await store.call("GET", path)).toMatchObject(problem(401, "API_KEY_MISSING"));
});

it.each([
  ...["9223372036854775808", "9".repeat(5_000), "-0", "01", "+1", "1.0", "1e0", "0x1"],
  ...["abc", "%20", "1%0A", "%00", "%2F", "%D9%A1", "1%20or%201=1"],
])("the petId %s is 404 like an unknown one", async (id) => {
  const { text } = await store.call("GET", "/v1/pets/999999", { key });
  expect(await store.call("GET", `/v1/pets/${id}`, { key })).toMatchObject({ ...problem(404, "PET_NOT_FOUND"), text });
});

it.each(["PATCH", "POST", "PUT"])("%s of a pet is 405 with Allow", async (method) => {
  const answer = await store.call(method, "/v1/pets/1", { key, body: '{"status":"sold"}' });
  expect(answer).toMatchObject({ ...problem(405, "METHOD_NOT_ALLOWED"), headers: { allow: "GET, HEAD" } });
});

it.each([
  [200, "/v1/pets", { key }],
  [200, "/v1/pets/1", { key }],
  [404, "/v1/none", { key }],
  [400, "/v1/pets?limit=0", { key }],
  [401, "/v1/pets", {}],
])("the response to HEAD is that to GET without the body: %i %s", async (status, path, options) => {
  const got = await store.call("GET", path, options);
  const head = await store.call("HEAD", path, options);
  expect([head.text, head.status, steady(head)]).toEqual(["", status, steady(got)]);
  expect(head.rateLimit).toEqual({ ...got.rateLimit, remaining: got.rateLimit.remaining - 1 });
});

/** The headers that must be equal in two responses. */
function steady({ headers }: Answer): Record<string, string> {
  const changing = /^(date|ratelimit|x-ratelimit-remaining|x-request-id)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.test(name)));
}

it("the response to OPTIONS is 204 without Content-Length (RFC 9110 section 8.6)", async () => {
  const { status, headers } = await store.call("OPTIONS", "/v1/pets");
  expect([status, headers["content-length"]]).toEqual([204, undefined]);
});

it("/livez and /readyz are no probes with another method or spelling", async () => {
  const unknown = problem(404, "ROUTE_NOT_FOUND");
  expect(await store.call("POST", "/livez", { key })).toMatchObject(unknown);
  for (const path of ["/livez/", "/LIVEZ", "/readyz?verbose"]) {
    expect(await store.call("GET", path, { key })).toMatchObject(unknown);
  }
});

it.each([
  ["OPTIONS", "/v1/pets"],
  ["GET", "/docs/get-pet-removal.md"],
])("a malformed %s %s is refused although it needs no key", async (method, path) => {
  const answer = await store.call(method, path, { headers: { Host: "a b" } });
  expect(answer).toMatchObject({ ...problem(400, "MALFORMED_REQUEST"), rateLimit: { limit: 300 } });
});

it.each([
  ["limit=1&limit=1", "limit must be an integer from 1 to 100"],
  [`${"&".repeat(1_000)}limit=0`, "limit must be an integer from 1 to 100"],
  ["status=%FF", "status must be one of available, pending, sold"],
  ["status=sold&status=sold", "status must be one of available, pending, sold"],
  ["cursor=a&cursor=a", "cursor must be given once"],
  ["__proto__=1", "__proto__ is unknown; query parameter must be limit, status or cursor"],
  ["limit[]=1", "query parameter must be limit, status or cursor"],
])("the query may not be ?%s", async (query, message) => {
  const answer = await store.call("GET", `/v1/pets?${query}`, { key });
  expect(answer).toMatchObject({ status: 400, json: { code: "VALIDATION_FAILED", message } });
});

describe("the URLs in Link", () => {
  const insertTwo = "insert into pets (name, category_id, status) values ('a', 1, 'sold'), ('b', 1, 'sold')";
  const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher" };

  it("are relative by default", async () => {
    await store.execute(insertTwo);
    const { link } = (await store.call("GET", "/v1/pets?status=sold&limit=1", { key, headers })).headers;
    expect(link).toMatch(/^<\/v1\/pets\?status=sold&limit=1&cursor=[\w-]+>; rel="next"$/);
  });

  it("start with PUBLIC_URL if it is set, never with the Host header", async () => {
    await using published = await openTestStore({ PUBLIC_URL: "https://pets.example/" });
    const caller = await published.issueKey();
    await published.execute(insertTwo);
    const linkOf = async (path: string) => (await published.call("GET", path, { ...caller, headers })).headers.link;
    expect(await linkOf("/v1/pets?limit=1")).toMatch(
      /^<https:\/\/pets\.example\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/,
    );
    expect(await linkOf("/v1/pets/1")).toMatch(
      /^<https:\/\/pets\.example\/docs\/.*, <https:\/\/pets\.example\/v1\/pets>;/,
    );
  });
});
