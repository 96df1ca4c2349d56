import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const refused = (message: string) => ({ status: 400, json: { code: "VALIDATION_FAILED", message, status: 400 } });

describe("limit is 1 to 100, and never clamped", () => {
  it.each(["1", "20", "99", "100", "%31%30"])("accepts limit=%s", async (limit) => {
    expect((await store.call("GET", `/v1/pets?limit=${limit}`, { key })).status).toBe(200);
  });

  it.each([
    ["0"],
    ["101"],
    ["-1"],
    ["-0"],
    ["1.5"],
    ["1.0"],
    ["abc"],
    [""],
    ["010"],
    ["1e1"],
    ["0x10"],
    ["1_0"],
    ["+5"],
    ["%2B5"],
    ["%205"],
    ["5%20"],
    ["%EF%BC%95"],
    ["NaN"],
    ["Infinity"],
    ["9007199254740993"],
    ["99999999999999999999999"],
    ["1,2"],
    ["1&limit=1"],
    ["1&limit=2"],
  ])("refuses limit=%s", async (limit) => {
    expect(await store.call("GET", `/v1/pets?limit=${limit}`, { key })).toMatchObject(
      refused("limit must be an integer from 1 to 100"),
    );
  });

  it("refuses limit without a value", async () => {
    expect((await store.call("GET", "/v1/pets?limit", { key })).status).toBe(400);
  });
});

describe("status", () => {
  it.each(["available", "pending", "sold", "%73old"])("accepts status=%s", async (status) => {
    expect((await store.call("GET", `/v1/pets?status=${status}`, { key })).status).toBe(200);
  });

  it.each([
    "",
    "Sold",
    "SOLD",
    "sold%20",
    "gone",
    "sold,pending",
    "0",
    "sold&status=sold",
    "sold&status=pending",
    "%FF",
  ])("refuses status=%s", async (status) => {
    expect(await store.call("GET", `/v1/pets?status=${status}`, { key })).toMatchObject(
      refused("status must be one of available, pending, sold"),
    );
  });
});

describe("other parameters", () => {
  it("refuses a repeated cursor", async () => {
    expect(await store.call("GET", "/v1/pets?cursor=a&cursor=a", { key })).toMatchObject(
      refused("cursor must be given once"),
    );
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
    expect(await store.call("GET", `/v1/pets?${query}`, { key })).toMatchObject(
      refused("query parameter must be limit, status or cursor"),
    );
  });

  it("reports all faults at once, and repeats no value of the request", async () => {
    const answer = await store.call("GET", "/v1/pets?limit=777&status=elsewhere&colour=mauve", { key });
    expect(answer).toMatchObject(
      refused(
        "limit must be an integer from 1 to 100; status must be one of available, pending, sold; " +
          "query parameter must be limit, status or cursor",
      ),
    );
  });

  it.each(["?", "?&", "?limit=1&", "?&&limit=1"])("accepts %s", async (query) => {
    expect((await store.call("GET", `/v1/pets${query}`, { key })).status).toBe(200);
  });
});
