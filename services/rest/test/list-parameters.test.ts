// The query of a list. tools/checks/conformance/contract tests the values that both APIs accept and refuse.
import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const list = (query: string) => store.call("GET", `/v1/pets${query}`, { key });
const refused = (message: string) => ({ status: 400, json: { code: "VALIDATION_FAILED", message, status: 400 } });

it.each(["?", "?&", "?limit=1&", "?&&limit=1", "?limit=%31%30", "?status=%73old"])("accepts %s", async (query) => {
  expect((await list(query)).status).toBe(200);
});

it.each([
  ["limit", "limit must be an integer from 1 to 100"],
  ["limit=1&limit=1", "limit must be an integer from 1 to 100"],
  ["limit=1&limit=2", "limit must be an integer from 1 to 100"],
  ["limit=+5", "limit must be an integer from 1 to 100"],
  ["status=sold&status=sold", "status must be one of available, pending, sold"],
  ["status=sold&status=pending", "status must be one of available, pending, sold"],
  ["status=%FF", "status must be one of available, pending, sold"],
  ["cursor=a&cursor=a", "cursor must be given once"],
])("refuses a parameter without a value, repeated or not UTF-8: %s", async (query, message) => {
  expect(await list(`?${query}`)).toMatchObject(refused(message));
});

it("refuses a cursor that is not UTF-8", async () => {
  expect(await list("?cursor=%FF%FE")).toMatchObject({ status: 400, json: { code: "INVALID_CURSOR" } });
});

it.each([
  "offset=1",
  "page=2",
  "Limit=1",
  "limit%20=1",
  "limit[]=1",
  "status[eq]=sold",
  "=1",
  "__proto__=1",
  "constructor=1",
  "toString",
])("refuses the unknown parameter %s", async (query) => {
  expect(await list(`?${query}`)).toMatchObject(refused("query parameter must be limit, status or cursor"));
});

it("reports all faults at once, without the values", async () => {
  const message =
    "limit must be an integer from 1 to 100; status must be one of available, pending, sold; " +
    "query parameter must be limit, status or cursor";
  expect(await list("?limit=777&status=elsewhere&colour=mauve")).toMatchObject(refused(message));
});

describe("a request body", () => {
  it.each(["/v1/pets?limit=1", "/v1/pets/1"])("does not change the response to GET %s", async (path) => {
    const { status, text } = await store.call("GET", path, { key });
    const headers = { "Content-Type": "text/plain" };
    expect(await store.call("GET", path, { key, headers, body: "any text" })).toMatchObject({ status, text });
  });
});
