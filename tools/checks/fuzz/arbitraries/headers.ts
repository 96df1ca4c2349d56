import fc from "fast-check";
import { mostly, notoriousStrings, weighted } from "./json.js";

export type Headers = readonly (readonly [name: string, value: string])[];

const keyKinds = ["valid", "smallQuota", "tinyQuota", "malformed", "unknown", "revoked", "expired"] as const;
export type CallerKey = (typeof keyKinds)[number];

/** The Authorization headers of a request. The keys exist only when the services run. */
export interface Caller {
  readonly key: CallerKey;
  readonly scheme: string;
  /** How many Authorization headers the request has. */
  readonly times: number;
}

const otherSchemes = fc.constantFrom("bearer ", "BEARER   ", "Basic ", "", "Bearer", "Bearer\t", "Bearer ,");

export const caller: fc.Arbitrary<Caller> = fc.record({
  key: mostly<CallerKey>("valid", fc.constantFrom(...keyKinds.slice(1)), 4),
  scheme: mostly("Bearer ", otherSchemes, 20),
  times: mostly(1, fc.constantFrom(0, 0, 2, 3)),
});

/** Any characters that an HTTP client lets through. */
export const headerValue: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...notoriousStrings.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text))),
  fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,40}$/),
  fc.integer({ min: 250, max: 300 }).map((length) => "k".repeat(length)),
);

const otherTypes = fc.constantFrom(
  ...["text/plain", "application/graphql", "multipart/form-data; boundary=x", "Application/JSON", ""],
  ...["utf-8", "UTF-8", "utf-16", "latin1"].map((charset) => `application/json; charset=${charset}`),
);
export const contentType: fc.Arbitrary<string> = mostly("application/json", fc.oneof(otherTypes, headerValue));

/** Headers that the services read, with values that they expect. */
const knownHeaders: Readonly<Record<string, readonly string[]>> = {
  accept: ["*/*", "application/json", "text/html", "application/*;q=0.1", "*/*;q=0", "application/json;q=2", ";,;"],
  "content-encoding": ["gzip", "identity", "br", "gzip, gzip"],
  "idempotency-key": ["once", '"once"', "k".repeat(255), "k".repeat(256)],
  "x-request-id": ["mine-1", "a".repeat(128), "a".repeat(129)],
  origin: ["https://shop.example", "null"],
  "x-forwarded-for": ["::1", "1.2.3.4, 5.6.7.8", "::ffff:1.2.3.4", "1.2.3.4:5", "[::1]:80", "unknown"],
  "access-control-request-method": ["POST"],
};
const knownHeader = fc
  .constantFrom(...Object.entries(knownHeaders))
  .chain(([name, values]) => fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...values), headerValue)));

const otherNames =
  "traceparent range if-none-match if-modified-since cookie accept-encoding user-agent referer via te prefer forwarded " +
  "x-http-method-override x-forwarded-host x-forwarded-proto x-ratelimit-limit __proto__ constructor toString";
const otherHeader = fc.tuple(fc.constantFrom(...otherNames.split(" ")), headerValue);
const graphqlType = fc.constant<[string, string]>(["accept", "application/graphql-response+json"]);

/** Headers that a request does not need. Most requests have none of them. */
export const moreHeaders: fc.Arbitrary<Headers> = weighted<Headers>(
  [60, fc.constant([])],
  [40, fc.array(weighted([1, graphqlType], [6, knownHeader], [1, otherHeader]), { minLength: 1, maxLength: 4 })],
  [1, fc.integer({ min: 150, max: 260 }).map((count) => Array(count).fill(["x-many", ""]))],
  [1, fc.integer({ min: 8_000, max: 20_000 }).map((length) => [["x-long", "l".repeat(length)]])],
);
