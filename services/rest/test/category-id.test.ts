import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const create = (categoryId: string) =>
  store.call("POST", "/v1/pets", { key, body: `{"name":"Ada","categoryId":${categoryId}}` });

describe("every int64 comes back digit for digit from POST, GET by id and list", () => {
  it.each([
    "0",
    "-1",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775806",
    "9223372036854775807",
    "-9223372036854775807",
    "-9223372036854775808",
  ])("%s", async (digits) => {
    const created = await create(digits);
    expect(created.status).toBe(201);
    expect(categoryIds(created.text)).toEqual([digits]);
    const { id } = created.json as { id: number };
    expect(categoryIds((await store.call("GET", `/v1/pets/${id}`, { key })).text)).toEqual([digits]);
    expect(categoryIds((await store.call("GET", "/v1/pets?limit=100", { key })).text).at(-1)).toBe(digits);
  });
});

describe("a whole number is an integer in every notation", () => {
  it.each([
    ["1.0", "1"],
    ["1.000", "1"],
    ["1e3", "1000"],
    ["1E+3", "1000"],
    ["1.5e1", "15"],
    ["10e-1", "1"],
    ["-0", "0"],
    ["-0.0", "0"],
    ["0e999999999999", "0"],
    ["0.0e-5", "0"],
    ["9007199254740993.0", "9007199254740993"],
    ["9.223372036854775807e18", "9223372036854775807"],
    ["92233720368547758070e-1", "9223372036854775807"],
    ["-9223372036854775808.00", "-9223372036854775808"],
  ])("%s is %s", async (written, digits) => {
    const { status, text } = await create(written);
    expect([status, ...categoryIds(text)]).toEqual([201, digits]);
  });
});

describe("any other categoryId is refused", () => {
  it.each([
    "9223372036854775808",
    "-9223372036854775809",
    "9.223372036854775808e18",
    "9223372036854775807.5",
    "18446744073709551617",
    "1.5",
    "0.1",
    "1e-1",
    "1e19",
    "1e400",
    "-1e400",
    "1e999999999999",
    "1e-400",
    '"1"',
    '""',
    "true",
    "false",
    "null",
    "[1]",
    "{}",
    '{"value":1}',
  ])("%s", async (value) => {
    expect(await create(value)).toMatchObject({
      status: 400,
      json: {
        code: "VALIDATION_FAILED",
        message: "categoryId must be an integer from -9223372036854775808 to 9223372036854775807",
      },
    });
  });

  it("a missing one", async () => {
    const answer = await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada"}' });
    expect(answer).toMatchObject({
      status: 400,
      json: { code: "VALIDATION_FAILED", message: "categoryId is required" },
    });
  });

  it.each(["01", "1.", ".5", "+1", "0x10", "1_000", "1e", "-", "NaN", "Infinity", "1n", "\uff11"])(
    "%s, which is not JSON",
    async (value) => {
      expect(await create(value)).toMatchObject({ status: 400, json: { code: "INVALID_JSON" } });
    },
  );

  it.each([
    ["60,000 digits", "9".repeat(60_000)],
    ["60,000 zeros between two digits", `1${"0".repeat(60_000)}1.0`],
    ["60,000 zeros behind the point", `0.${"0".repeat(60_000)}1`],
    ["an exponent of 60,000 digits", `1e${"9".repeat(60_000)}`],
  ])("%s, without blocking the process", async (_what, value) => {
    const before = process.cpuUsage();
    expect((await create(value)).status).toBe(400);
    // Linear work takes a few milliseconds, quadratic work more than a second.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(500);
  });
});

/** The digits in the text: `JSON.parse` would round them. */
function categoryIds(json: string): (string | undefined)[] {
  return [...json.matchAll(/"categoryId":([^,}]*)/g)].map((match) => match[1]);
}
