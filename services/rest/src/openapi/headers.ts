import type { JsonSchema } from "@petstore/core";
import { deprecationHeader, sunsetHeader } from "../deprecation.js";

export interface Header {
  /** What the field is called on the wire. */
  readonly field: string;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
  /** Whether an answer that may carry it always does. */
  readonly required: boolean;
}

/** Names in the document; on the wire DeprecationLink is a Link too. */
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
    field: "X-RateLimit-Limit",
    description:
      "The limit currently applying: that of the window with the least remaining, or of the one that refused.",
    schema: { type: "integer", minimum: 1 },
    example: 60,
    required: true,
  },
  "X-RateLimit-Remaining": {
    field: "X-RateLimit-Remaining",
    description: "Requests remaining in that window.",
    schema: { type: "integer", minimum: 0 },
    example: 59,
    required: true,
  },
  "X-RateLimit-Reset": {
    field: "X-RateLimit-Reset",
    description: "Unix timestamp, in seconds, at which that window resets.",
    schema: { type: "integer", minimum: 0 },
    example: 1_795_204_620,
    required: true,
  },
  RateLimit: {
    field: "RateLimit",
    description: "Both windows (IETF draft): `r` requests remaining, `t` seconds until the reset.",
    schema: { type: "string", pattern: windowList("r", "t") },
    example: '"minute";r=59;t=20, "day";r=999;t=52220',
    required: true,
  },
  "RateLimit-Policy": {
    field: "RateLimit-Policy",
    description: "The limits of both windows (IETF draft): `q` requests in `w` seconds.",
    schema: { type: "string", pattern: windowList("q", "w") },
    example: '"minute";q=60;w=60, "day";q=1000;w=86400',
    required: true,
  },
  "X-Request-Id": {
    field: "X-Request-Id",
    description: "The id of this request, for the log: the one you sent, or a new one.",
    schema: { type: "string", pattern: "^[A-Za-z0-9_.:+/=-]{1,128}$" },
    example: "2f1e6c0e-3f0c-4c52-9d2b-6c1f0a3f7f0e",
    required: true,
  },
  "Cache-Control": {
    field: "Cache-Control",
    description: "Answers belong to one key at one moment.",
    schema: { type: "string", const: "no-store" },
    example: "no-store",
    required: true,
  },
  "Retry-After": {
    field: "Retry-After",
    description: "Whole seconds. A request made then is not refused for the same reason.",
    schema: { type: "integer", minimum: 1 },
    example: 20,
    required: true,
  },
  "WWW-Authenticate": {
    field: "WWW-Authenticate",
    description: "The challenge of RFC 6750; with `error` when a key was sent.",
    schema: { type: "string", pattern: '^Bearer realm="petstore"(, error="invalid_token")?$' },
    example: 'Bearer realm="petstore"',
    required: true,
  },
  Link: {
    field: "Link",
    description: 'The next page, with `rel="next"` (RFC 8288); absent on the last one.',
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
    example: '</v1/pets?status=available&limit=2&cursor=AQEAAAAAAAAAAg>; rel="next"',
    required: false,
  },
  "Idempotency-Replayed": {
    field: "Idempotency-Replayed",
    description: "Present when this is the answer to an earlier call with the same idempotency key.",
    schema: { type: "string", const: "true" },
    example: "true",
    required: false,
  },
  Deprecation: {
    field: "Deprecation",
    description: "Since when the endpoint is deprecated (RFC 9745): 20 November 2026.",
    schema: { type: "string", const: deprecationHeader },
    example: deprecationHeader,
    required: true,
  },
  Sunset: {
    field: "Sunset",
    description: "When the endpoint is removed (RFC 8594): 5 December 2030.",
    schema: { type: "string", const: sunsetHeader },
    example: sunsetHeader,
    required: true,
  },
  DeprecationLink: {
    field: "Link",
    description: "The notice, and what replaces the endpoint.",
    schema: {
      type: "string",
      pattern: '^<[^>]+>; rel="deprecation"; type="text/markdown", <[^>]+>; rel="successor-version"$',
    },
    example: '</docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown", </v1/pets>; rel="successor-version"',
    required: true,
  },
};

/** What every answer carries, whatever was asked. */
export const commonHeaders: readonly HeaderName[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "X-Request-Id",
  "Cache-Control",
];

/** A list of both windows, each with these parameters. */
function windowList(...names: readonly string[]): string {
  const parameters = names.map((name) => `;${name}=\\d+`).join("");
  return `^"minute"${parameters}, "day"${parameters}$`;
}
