import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const minimal = '{"name":"Ada","categoryId":1}';
const create = (body: string | Buffer, headers: Record<string, string> = {}) =>
  store.call("POST", "/v1/pets", { key, body, headers });
const code = (status: number, code: string) => ({ status, json: { code, message: expect.any(String), status } });

describe("status omitted on create", () => {
  it("is available, stored and returned", async () => {
    const created = await create(minimal);
    expect(created).toMatchObject({ status: 201, json: { status: "available" } });
    const { id } = created.json as { id: number };
    expect((await store.call("GET", `/v1/pets/${id}`, { key })).json).toMatchObject({ status: "available" });
  });
});

describe("unknown body properties, and id in a body", () => {
  it.each(["id", "Name", "category_id", "tags", "", "__proto__", "constructor", "toString", "hasOwnProperty"])(
    "refuses %j",
    async (name) => {
      const answer = await create(`{"name":"Ada","categoryId":1,${JSON.stringify(name)}:1}`);
      expect(answer).toMatchObject(code(400, "VALIDATION_FAILED"));
    },
  );

  it.each(["__proto__", "constructor", "prototype"])("reads no field inside %s", async (name) => {
    expect(await create(`{"${name}":{"name":"Ada","categoryId":1}}`)).toMatchObject(code(400, "VALIDATION_FAILED"));
  });
});

describe("a body that is not an object", () => {
  it.each(["[]", `[${minimal}]`, '"Ada"', '""', "null", "true", "0", "1.5"])("refuses %s", async (body) => {
    expect(await create(body)).toMatchObject(code(400, "VALIDATION_FAILED"));
  });
});

describe("a body that is not JSON", () => {
  it.each([
    ["nothing", ""],
    ["blanks", " \n\t"],
    ["half an object", '{"name":"Ada","categoryId":1'],
    ["more than one value", `${minimal}${minimal}`],
    ["a word", "Ada"],
    ["a trailing comma", '{"name":"Ada","categoryId":1,}'],
    ["a leading comma", '{,"name":"Ada","categoryId":1}'],
    ["single quotes", "{'name':'Ada','categoryId':1}"],
    ["a comment", `${minimal} // Ada`],
    ["a name without quotes", '{name:"Ada","categoryId":1}'],
    ["a line feed within a string", '{"name":"A\nda","categoryId":1}'],
    ["a zero byte within a string", '{"name":"A\u0000da","categoryId":1}'],
    ["an escape there is not", '{"name":"\\x41","categoryId":1}'],
    ["half an escape", '{"name":"\\u00","categoryId":1}'],
    ["a blank that JSON does not know", `\u00a0${minimal}`],
    ["a form", "name=Ada&categoryId=1"],
    ["60,000 opening brackets", "[".repeat(60_000)],
  ])("refuses %s", async (_what, body) => {
    expect(await create(body)).toMatchObject(code(400, "INVALID_JSON"));
  });

  it.each([
    ["30,000 nested arrays", "[".repeat(30_000) + "]".repeat(30_000)],
    ["10,000 nested objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ])("refuses %s, as too deep or as not a pet", async (_what, body) => {
    // The possible depth depends on the size of the stack.
    expect((await create(body)).status).toBe(400);
  });

  it.each([
    ["another value", '{"name":"Ada","name":"Bo","categoryId":1}'],
    ["the same value", '{"name":"Ada","name":"Ada","categoryId":1}'],
    ["an escape", '{"name":"Ada","n\\u0061me":"Ada","categoryId":1}'],
    ["a structure", '{"name":"Ada","categoryId":1,"status":{"a":[1]},"status":{"a":[1]}}'],
    ["__proto__", '{"name":"Ada","categoryId":1,"__proto__":1,"__proto__":1}'],
  ])("refuses an object that repeats a name with %s", async (_what, body) => {
    expect(await create(body)).toMatchObject(code(400, "INVALID_JSON"));
  });

  it.each([
    ["latin-1", Buffer.from('{"name":"Zo\u00eb","categoryId":1}', "latin1")],
    ["a truncated sequence", Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xe2, 0x82]), Buffer.from('"}')])],
    ["an overlong sequence", Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    [
      "an encoded surrogate",
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ["UTF-16", Buffer.from(minimal, "utf16le")],
  ])("refuses bytes that are not UTF-8: %s", async (_what, body) => {
    expect(await create(body)).toMatchObject(code(400, "INVALID_JSON"));
  });

  it("ignores a byte order mark, as RFC 8259 section 8.1 allows", async () => {
    expect((await create(`\ufeff${minimal}`)).status).toBe(201);
  });
});

describe("a body is at most 64 KiB", () => {
  const chunked = { "Transfer-Encoding": "chunked" };

  it("accepts 65,536 bytes, with and without a Content-Length", async () => {
    const body = minimal.padEnd(65_536);
    expect((await create(body)).status).toBe(201);
    expect((await create(body, chunked)).status).toBe(201);
  });

  it("refuses one byte more, with and without a Content-Length", async () => {
    const body = minimal.padEnd(65_537);
    expect(await create(body)).toMatchObject(code(413, "PAYLOAD_TOO_LARGE"));
    expect(await create(body, chunked)).toMatchObject(code(413, "PAYLOAD_TOO_LARGE"));
  });

  it("refuses a megabyte", async () => {
    const body = minimal.padEnd(1_000_000);
    expect(await create(body)).toMatchObject(code(413, "PAYLOAD_TOO_LARGE"));
    expect(await create(body, chunked)).toMatchObject(code(413, "PAYLOAD_TOO_LARGE"));
  });
});

describe("a body is application/json in UTF-8", () => {
  it.each([
    "application/json",
    "Application/JSON",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
  ])("accepts %s", async (type) => {
    expect((await create(minimal, { "Content-Type": type })).status).toBe(201);
  });

  it.each([
    "",
    "text/plain",
    "text/json",
    "application/jsonp",
    "application/json-seq",
    "application/merge-patch+json",
    "application/vnd.api+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-16",
    "application/json; charset=",
    "application/json, text/plain",
  ])("refuses %j", async (type) => {
    expect(await create(minimal, { "Content-Type": type })).toMatchObject(code(415, "UNSUPPORTED_MEDIA_TYPE"));
  });

  it.each(["gzip", "br", "deflate", "gzip, identity", "x"])("refuses the content coding %s", async (coding) => {
    expect(await create(minimal, { "Content-Encoding": coding })).toMatchObject(code(415, "UNSUPPORTED_MEDIA_TYPE"));
  });

  it("accepts the content coding identity", async () => {
    expect((await create(minimal, { "Content-Encoding": "identity" })).status).toBe(201);
  });

  it("checks the media type before the body", async () => {
    const answer = await create("no JSON".repeat(20_000), { "Content-Type": "text/plain" });
    expect(answer.status).toBe(415);
  });
});

it("reports all faults at once, and repeats no value of the request", async () => {
  const { json } = await create('{"name":"\\u0007 mauve","categoryId":"mauve","status":"mauve"}');
  expect(json).toEqual({
    code: "VALIDATION_FAILED",
    message:
      "name must not contain control characters; " +
      "categoryId must be an integer from -9223372036854775808 to 9223372036854775807; " +
      "status must be one of available, pending, sold",
    status: 400,
  });
});
