import { afterAll, describe, expect, it } from "vitest";
import { type Answer, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' });

const code = (status: number, code: string) => ({ status, json: { code, message: expect.any(String), status } });

describe("an unknown path is 404", () => {
  it.each([
    "//",
    "/v1",
    "/v1/",
    "/v1/pets/",
    "/v1/pets/1/",
    "/v1/pets/1/owner",
    "/v1//pets",
    "//v1/pets",
    "/v1/Pets",
    "/V1/pets",
    "/v1/pet",
    "/v1/pets.json",
    "/v1/pets;limit=1",
    "/v1/%zz",
    "/v1/pets/%",
    "/v1/pets/%zz",
    "/v1/pets/%C3%28",
    "/v1/pets%2F1",
    "/pets",
    "/v2/pets",
    "/v1.0/pets",
    "/1/pets",
  ])("%s, counted like any other, and 401 without a key", async (path) => {
    const caller = await store.issueKey({ plan: "free" });
    const answer = await store.call("GET", path, { key: caller.key });
    expect(answer).toMatchObject(code(404, "ROUTE_NOT_FOUND"));
    expect(answer.rateLimit).toMatchObject({ limit: 60, remaining: 59 });
    expect(await store.call("GET", path)).toMatchObject({ ...code(401, "API_KEY_MISSING"), rateLimit: { limit: 300 } });
  });

  it("does not repeat the path", async () => {
    expect((await store.call("GET", "/v1/mauve", { key })).text).not.toContain("mauve");
  });
});

describe("resources that the interface does not show are 404", () => {
  it.each(["/v1/orders", "/v1/store/orders", "/v1/categories", "/v1/categories/1", "/v1/events", "/v1/webhooks"])(
    "%s",
    async (path) => {
      expect(await store.call("GET", path, { key })).toMatchObject(code(404, "ROUTE_NOT_FOUND"));
    },
  );
});

describe("a petId that is not an int64 is 404 like an unknown one", () => {
  it.each([
    ["unknown", "999999"],
    ["the largest", "9223372036854775807"],
    ["the smallest", "-9223372036854775808"],
    ["one too large", "9223372036854775808"],
    ["far too large", "9".repeat(5_000)],
    ["zero", "0"],
    ["negative", "-1"],
    ["negative zero", "-0"],
    ["a leading zero", "01"],
    ["a leading plus", "+1"],
    ["an encoded plus", "%2B1"],
    ["a fraction", "1.0"],
    ["an exponent", "1e0"],
    ["hexadecimal", "0x1"],
    ["a word", "abc"],
    ["null", "null"],
    ["a blank", "%20"],
    ["a blank after", "1%20"],
    ["a line feed after", "1%0A"],
    ["a zero byte", "%00"],
    ["a slash", "%2F"],
    ["a digit of another script", "%D9%A1"],
    ["SQL", "1%20or%201=1"],
  ])("%s", async (_what, id) => {
    const unknown = await store.call("GET", "/v1/pets/999999", { key });
    const answer = await store.call("GET", `/v1/pets/${id}`, { key });
    expect(answer).toMatchObject(code(404, "PET_NOT_FOUND"));
    expect(answer.text).toBe(unknown.text);
  });

  it("a percent-encoded digit is the same path", async () => {
    expect((await store.call("GET", "/v1/pets/%31", { key })).status).toBe(200);
  });
});

describe("no operation changes a pet: another method is 405, with Allow", () => {
  it.each([
    ["PATCH", "/v1/pets/1", "GET, HEAD"],
    ["POST", "/v1/pets/1", "GET, HEAD"],
    ["PUT", "/v1/pets/1", "GET, HEAD"],
    ["DELETE", "/v1/pets/1", "GET, HEAD"],
    ["DELETE", "/v1/pets/none", "GET, HEAD"],
  ])("%s %s", async (method, path, allow) => {
    const before = (await store.call("GET", "/v1/pets", { key })).text;
    const answer = await store.call(method, path, { key, body: '{"status":"sold"}' });
    expect(answer).toMatchObject(code(405, "METHOD_NOT_ALLOWED"));
    expect(answer.headers.allow).toBe(allow);
    expect((await store.call("GET", "/v1/pets", { key })).text).toBe(before);
  });
});

it("Accept: text/html is 406 on every route, and adds no pet", async () => {
  const before = (await store.call("GET", "/v1/pets", { key })).text;
  for (const [method, path] of [
    ["GET", "/v1/pets"],
    ["POST", "/v1/pets"],
    ["GET", "/v1/pets/1"],
  ] as const) {
    const body = method === "POST" ? { body: '{"name":"Ada","categoryId":1}' } : {};
    const answer = await store.call(method, path, { key, headers: { accept: "text/html" }, ...body });
    expect(answer).toMatchObject(code(406, "NOT_ACCEPTABLE"));
  }
  expect((await store.call("GET", "/v1/pets", { key })).text).toBe(before);
});

describe("HEAD equals GET without the body", () => {
  it.each([
    ["200", "/v1/pets", { key }],
    ["200 of a pet", "/v1/pets/1", { key }],
    ["404 of a pet", "/v1/pets/999999", { key }],
    ["404", "/v1/none", { key }],
    ["400", "/v1/pets?limit=0", { key }],
    ["401", "/v1/pets", {}],
    ["406", "/v1/pets", { key, headers: { accept: "text/html" } }],
  ])("%s", async (_status, path, options) => {
    const got = await store.call("GET", path, options);
    const head = await store.call("HEAD", path, options);
    expect(head.text).toBe("");
    expect([head.status, steady(head)]).toEqual([got.status, steady(got)]);
    expect(head.rateLimit).toEqual({ ...got.rateLimit, remaining: got.rateLimit.remaining - 1 });
  });
});

/** The headers that must be equal in two responses. */
function steady({ headers }: Answer): Record<string, string> {
  const changing = /^(date|ratelimit|x-ratelimit-remaining|x-request-id)$/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.test(name)));
}
