import type { JsonSchema } from "@petstore/core";
import { deprecationHeader, sunsetHeader } from "../deprecation.js";

export interface Header {
  /** The name of the header in the HTTP response, if it differs from the name in the document. */
  readonly field?: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
  /** True if some of the responses that may have the header do not have it. */
  readonly isOptional?: true;
}

/** The names in `components.headers` of the document. `DeprecationLink` is a Link header in the response. */
export type HeaderName =
  | "X-RateLimit-Limit"
  | "X-RateLimit-Remaining"
  | "X-RateLimit-Reset"
  | "RateLimit"
  | "RateLimit-Policy"
  | "X-Request-Id"
  | "Cache-Control"
  | "Retry-After"
  | "WWW-Authenticate"
  | "Link"
  | "Idempotency-Replayed"
  | "Deprecation"
  | "Sunset"
  | "DeprecationLink";

export const headers: Readonly<Record<HeaderName, Header>> = {
  "X-RateLimit-Limit": {
    description:
      "The limit of the window with the fewest remaining requests, or of the window that refused the request.",
    schema: { type: "integer", minimum: 1 },
    example: 60,
  },
  "X-RateLimit-Remaining": {
    description: "Requests remaining in that window.",
    schema: { type: "integer", minimum: 0 },
    example: 59,
  },
  "X-RateLimit-Reset": {
    description: "The time at which that window resets, in seconds since 1970 (Unix time).",
    schema: { type: "integer", minimum: 0 },
    example: 1_795_204_620,
  },
  RateLimit: {
    description: "Both windows (IETF draft): `r` is the number of remaining requests, `t` the seconds until the reset.",
    schema: { type: "string", pattern: windowList("r", "t") },
    example: '"minute";r=59;t=20, "day";r=999;t=52220',
  },
  "RateLimit-Policy": {
    description: "The limits of both windows (IETF draft): `q` requests in `w` seconds.",
    schema: { type: "string", pattern: windowList("q", "w") },
    example: '"minute";q=60;w=60, "day";q=1000;w=86400',
  },
  "X-Request-Id": {
    description: "The id of this request in the log of the service: the id from the request, or a new one.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.:+/=-]{1,128}$" },
    example: "2f1e6c0e-3f0c-4c52-9d2b-6c1f0a3f7f0e",
  },
  "Cache-Control": {
    description: "Responses must not be cached. They depend on the key and the time.",
    schema: { type: "string", const: "no-store" },
    example: "no-store",
  },
  "Retry-After": {
    description: "The number of seconds to wait. A request after that is not refused for the same reason.",
    schema: { type: "integer", minimum: 1 },
    example: 20,
  },
  "WWW-Authenticate": {
    description: "The challenge of RFC 6750. It has an `error` if the request had a key.",
    schema: { type: "string", pattern: '^Bearer realm="petstore"(, error="invalid_token")?$' },
    example: 'Bearer realm="petstore"',
  },
  Link: {
    description: 'The link to the next page, with `rel="next"` (RFC 8288). The last page has none.',
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/pets?status=available&limit=2&cursor=AQEAAAAAAAAAAg>; rel="next"',
    isOptional: true,
  },
  "Idempotency-Replayed": {
    description: "Present if this is the stored response of an earlier request with the same idempotency key.",
    schema: { type: "string", const: "true" },
    example: "true",
    isOptional: true,
  },
  Deprecation: {
    description: "The date of the deprecation (RFC 9745): 20 November 2026.",
    schema: { type: "string", const: deprecationHeader },
    example: deprecationHeader,
  },
  Sunset: {
    description: "The date on which the endpoint is removed (RFC 8594): 5 December 2030.",
    schema: { type: "string", const: sunsetHeader },
    example: sunsetHeader,
  },
  DeprecationLink: {
    field: "Link",
    description: "Links to the deprecation notice and to the endpoint that replaces this one.",
    schema: {
      type: "string",
      pattern: '^<[^>]+>; rel="deprecation"; type="text/markdown", <[^>]+>; rel="successor-version"$',
    },
    example: '</docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown", </v1/pets>; rel="successor-version"',
  },
};

/** The headers of every response. */
export const commonHeaders: readonly HeaderName[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "X-Request-Id",
  "Cache-Control",
];

/** The pattern of a header that lists both windows, each with these parameters. */
function windowList(...names: readonly string[]): string {
  const parameters = names.map((name) => `;${name}=\\d+`).join("");
  return `^"minute"${parameters}, "day"${parameters}$`;
}
