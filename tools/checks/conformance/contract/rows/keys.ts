import { create, created, get, list, type Problem, type Request, type Row, refused, rowsOf, succeeds } from "../row.js";
import { minute } from "./quotas.js";

const challenge = 'Bearer realm="petstore"';
const invalidToken = `${challenge}, error="invalid_token"`;

export const missing: Problem = unauthorized("API_KEY_MISSING", "No API key was sent as a bearer token.");
const otherScheme = unauthorized("API_KEY_MISSING", "The Authorization header must use the Bearer scheme.");
const invalid = unauthorized("API_KEY_INVALID", "The API key is malformed or unknown.");
const repeated = unauthorized("API_KEY_INVALID", "Exactly one Authorization header must be sent.");
export const suspended: Problem = forbidden("ACCOUNT_SUSPENDED", "The account of the API key is suspended.", challenge);

function unauthorized(code: Problem["code"], message: string): Problem {
  const header = code === "API_KEY_MISSING" ? challenge : invalidToken;
  return refused(401, code, message, { "www-authenticate": header, "api-key-expires": "" });
}

function needsScope(scope: string): Problem {
  const message = `This operation needs an API key whose scope includes ${scope}.`;
  return forbidden("INSUFFICIENT_SCOPE", message, `${challenge}, error="insufficient_scope"`);
}

function forbidden(code: Problem["code"], message: string, header: string): Problem {
  return refused(403, code, message, { "www-authenticate": header });
}

const operations: Readonly<Record<string, Request>> = { list: list(), create: create() };
const rejectedKeys: readonly (readonly [NonNullable<Row["key"]>, Problem])[] = [
  ["none", missing],
  ["malformed", invalid],
  ["unknown", invalid],
  ["revoked", unauthorized("API_KEY_REVOKED", "The API key was revoked at 2026-02-28T12:00:00.000Z.")],
  ["expired", unauthorized("API_KEY_EXPIRED", "The API key expired at 2026-01-31T12:00:00.000Z.")],
  ["test", unauthorized("API_KEY_INVALID", "Test keys work only in a test store.")],
];

const reads: Readonly<Record<string, Request>> = {
  list: list(),
  "an invalid list": list({ limit: "0" }),
  get: get(({ pets }) => pets[0]?.id ?? ""),
};
const writes: Readonly<Record<string, Request>> = {
  create: create(),
  "an invalid create": create('{"name":"","categoryId":1}'),
  "a create with an idempotency key": create(undefined, { idempotencyKey: "once" }),
};

type Header = (key: string) => readonly string[];

export const keyRows: readonly Row[] = [
  ...rejectedKeys.flatMap(([key, expected]) =>
    rowsOf(`a key of this kind is refused (${key})`, operations, (send) => ({ key, send, expected })),
  ),
  ...rowsOf("the scheme is written in any case", ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "], (scheme) => ({
    send: list({}, { authorization: (key) => [`${scheme} ${key}`] }),
    expected: succeeds,
  })),
  { title: "a scheme without a key is no key", send: list({}, { authorization: () => ["Bearer"] }), expected: missing },
  ...rowsOf(
    "the key is sent as a bearer token",
    {
      "an empty header": () => [""],
      Basic: (key) => [`Basic ${Buffer.from(`${key}:`).toString("base64")}`],
      "a scheme that begins with Bearer": (key) => [`Bearers ${key}`],
      "a tab instead of a space": (key) => [`Bearer\t${key}`],
    },
    (authorization: Header) => ({ send: list({}, { authorization }), expected: otherScheme }),
  ),
  {
    title: "a key in another header or in the query is no key",
    key: "none",
    send: list(
      { api_key: '"pets_test_nonsense"', access_token: '"pets_test_nonsense"' },
      { headers: { "x-api-key": "pets_test_nonsense", cookie: "api_key=pets_test_nonsense" } },
    ),
    expected: missing,
  },
  ...rowsOf(
    "two Authorization headers are refused",
    {
      "the same key": (key) => [`Bearer ${key}`, `Bearer ${key}`],
      "a wrong one second": (key) => [`Bearer ${key}`, "Bearer x"],
      "a wrong one first": (key) => ["Bearer x", `Bearer ${key}`],
      "another scheme": (key) => [`Bearer ${key}`, "Basic eDp5"],
    },
    (authorization: Header) => ({ send: list({}, { authorization }), expected: repeated }),
  ),
  ...rowsOf(
    "the key is checked before the rest of the request",
    {
      "the parameters": list({ limit: "0" }),
      "the body": create("{", { body: "{" }),
      "the size of the body": create(undefined, { bodyBytes: 70_000 }),
      "the media type": create(undefined, { headers: { "content-type": "text/plain" } }),
      "the method": list({}, { method: "DELETE" }),
      "the Accept header": list({}, { headers: { accept: "text/html" } }),
    },
    (send: Request) => ({ key: "none", send, expected: missing }),
  ),
  { title: "a read key lists pets", key: "read", send: list(), expected: succeeds },
  { title: "a write key creates a pet", key: "write", send: create(), expected: created({}) },
  ...rowsOf("a read key creates nothing", writes, (send) => ({ key: "read", send, expected: needsScope("write") })),
  ...rowsOf("a write key reads nothing", reads, (send) => ({ key: "write", send, expected: needsScope("read") })),
  ...rowsOf("a suspended account is refused before its request is read", { ...reads, ...writes }, (send) => ({
    key: "suspended",
    send,
    expected: suspended,
  })),
  ...rowsOf(
    "a request that is refused with 403 costs a unit",
    { suspended: suspended, read: needsScope("write") },
    (problem, key) => ({
      key: key as "suspended" | "read",
      limits: { perMinute: 10, perDay: 100 },
      before: [create(), create()],
      send: create(),
      expected: { ...problem, headers: { ...problem.headers, "x-ratelimit-remaining": "7" } },
    }),
  ),
  {
    title: "the quota of a suspended account is checked first",
    key: "suspended",
    limits: { perMinute: 1, perDay: 100 },
    before: [list()],
    send: list(),
    expected: minute,
  },
];
