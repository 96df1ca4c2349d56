import { create, created, list, type Problem, type Row, refused, rex, rowsOf, succeeds } from "../row.js";

const mediaType = refused(
  415,
  "UNSUPPORTED_MEDIA_TYPE",
  "The Content-Type is not application/json in UTF-8, or the body is compressed.",
);
const tooLarge = refused(413, "PAYLOAD_TOO_LARGE", "The request body exceeds 64 KiB.");
const notAcceptable = refused(406, "NOT_ACCEPTABLE", "The Accept header excludes application/json.");
/** GraphQL has a second media type for responses. */
const notAcceptableToGraphql: Problem = {
  ...notAcceptable,
  message: "The Accept header excludes application/json and application/graphql-response+json.",
};
const framings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "with a Content-Length": {},
  "in chunks": { "transfer-encoding": "chunked" },
};
const safeIds = ["a", "4711", "2f1e6c0e-3f0c-4c52", "trace:1/2+3=4_5.6-7", "x".repeat(128)];
const unsafeIds = ["", "x".repeat(129), "two words", '"quoted"', "<b>", "a,b", "\u00e9", "a;b", "{}"];

/** HTTP as both services speak it. */
export const requestRows: readonly Row[] = [
  ...rowsOf(
    "a body is application/json in UTF-8",
    ["Application/JSON", "application/json;", "application/json;charset=UTF-8;", 'application/json; charset="utf-8"'],
    (type) => ({ send: create(rex, { headers: { "content-type": type } }), expected: created({}) }),
  ),
  ...rowsOf(
    "another media type is refused",
    [
      ...["text/plain", "application/jsonp", "application/graphql", "application/merge-patch+json"],
      ...["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json, text/plain"],
      ...["application/json; charset=iso-8859-1", "application/json; charset=utf-16", "application/json; charset="],
      'application/json; charset="utf-8',
    ],
    (type) => ({ send: create(rex, { headers: { "content-type": type } }), expected: mediaType }),
  ),
  {
    title: "two media types are refused",
    send: create(rex, { headers: { "content-type": ["application/json", "application/json"] } }),
    expected: mediaType,
  },
  {
    title: "a missing media type is refused, and the message names the header",
    send: create(rex, { headers: { "content-type": "" } }),
    expected: refused(
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      "The Content-Type header is missing; send Content-Type: application/json.",
    ),
  },
  ...rowsOf("a content coding is refused", ["gzip", "br", "deflate", "gzip, identity", "x"], (coding) => ({
    send: create(rex, { headers: { "content-encoding": coding } }),
    expected: mediaType,
  })),
  ...rowsOf("a body has at most 64 KiB, also without a Content-Length", framings, (headers) => ({
    send: create(rex, { headers, bodyBytes: 65_536 }),
    expected: created({}),
  })),
  ...rowsOf("a body of 64 KiB and one byte is refused", framings, (headers) => ({
    send: create(rex, { headers, bodyBytes: 65_537 }),
    expected: tooLarge,
  })),
  {
    title: "the media type is checked before the size of the body",
    send: create(rex, { headers: { "content-type": "text/plain" }, bodyBytes: 70_000 }),
    expected: mediaType,
  },
  ...rowsOf("an existing resource refuses other methods", ["DELETE", "PUT", "PATCH", "TRACE"], (method) => ({
    send: list({}, { method }),
    expected: refused(405, "METHOD_NOT_ALLOWED", "Only GET, HEAD, POST can be used here.", {
      allow: "GET, HEAD, POST",
    }),
  })),
  ...rowsOf(
    "a response is acceptable for",
    ["*/*", "application/*", "APPLICATION/JSON", "text/html, */*;q=0.1", "application/json; q=0.001"],
    (accept) => ({ send: list({}, { headers: { accept } }), expected: succeeds }),
  ),
  ...rowsOf(
    "no response is acceptable for",
    ["text/html", "application/json;q=0", "*/*;q=0", "application/problem+json"],
    (accept) => ({
      send: list({}, { headers: { accept } }),
      expected: notAcceptable,
      graphql: notAcceptableToGraphql,
    }),
  ),
  ...rowsOf("a safe request id is repeated", safeIds, (id) => ({
    send: list({}, { headers: { "x-request-id": id } }),
    expected: { ...succeeds, headers: { "x-request-id": id } },
  })),
  ...rowsOf("any other request id is replaced", unsafeIds, (id) => ({
    send: list({}, { headers: { "x-request-id": id } }),
    expected: { ...succeeds, headers: { "x-request-id": "new" } },
  })),
  {
    title: "a script of another origin may read the response, without credentials",
    send: list({}, { headers: { origin: "https://shop.example" } }),
    expected: {
      ...succeeds,
      headers: {
        "access-control-allow-origin": "*",
        "access-control-allow-credentials": "",
        "access-control-expose-headers":
          "Allow,API-Key-Expires,Date,Deprecation,ETag,Idempotency-Replayed,Link,RateLimit,RateLimit-Policy," +
          "Retry-After,Sunset,WWW-Authenticate,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-Id",
      },
    },
  },
  {
    title: "a script of another origin may read a refusal",
    key: "none",
    send: list({}, { headers: { origin: "https://shop.example" } }),
    expected: refused(401, "API_KEY_MISSING", "No API key was sent as a bearer token.", {
      "access-control-allow-origin": "*",
    }),
  },
  {
    title: "a request without an origin gets no CORS headers",
    send: list(),
    expected: { ...succeeds, headers: { "access-control-allow-origin": "", "access-control-expose-headers": "" } },
  },
  {
    title: "a preflight request needs no key, costs nothing, and allows every header that it asks for",
    key: "none",
    send: list(
      {},
      {
        method: "OPTIONS",
        headers: {
          origin: "https://shop.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "apollographql-client-name,authorization,content-type,traceparent",
        },
      },
    ),
    expected: {
      ...succeeds,
      headers: {
        "access-control-allow-headers": "apollographql-client-name,authorization,content-type,traceparent",
        "access-control-allow-origin": "*",
        "x-ratelimit-remaining": "6",
        "access-control-allow-methods": "GET,HEAD,POST",
      },
    },
  },
];
