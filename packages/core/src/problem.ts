/**
 * Every error of the service, with its HTTP status. REST sends it as the schema `Error` of openapi.yaml, GraphQL in
 * `errors[].extensions`. The meaning is the default message.
 */
export const problems = {
  INVALID_JSON: { status: 400, meaning: "The JSON of the request is not well-formed or not in UTF-8." },
  VALIDATION_FAILED: { status: 400, meaning: "A parameter, header or field is missing, unknown or out of its range." },
  INVALID_CURSOR: {
    status: 400,
    meaning: "The cursor was not returned by this list, or was returned for another status filter.",
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    meaning:
      "The query is not a well-formed GraphQL document, or exceeds a limit on its length that the message names.",
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    meaning:
      "The GraphQL document does not fit the schema, or exceeds a limit on its fields or operations that the message names.",
  },
  OPERATION_TOO_LARGE: {
    status: 400,
    meaning: "The request has more than 10 root fields, or needs more units than a whole minute or day allows.",
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    meaning: "This process does not have the persisted query; send the document with its hash.",
  },
  MALFORMED_REQUEST: {
    status: 400,
    meaning: "The request line, the headers or the framing of the body break the rules of HTTP/1.1.",
  },
  API_KEY_MISSING: { status: 401, meaning: "No API key was sent as a bearer token." },
  API_KEY_INVALID: { status: 401, meaning: "The API key is malformed or unknown." },
  API_KEY_EXPIRED: { status: 401, meaning: "The API key is past its expiry." },
  API_KEY_REVOKED: { status: 401, meaning: "The API key was revoked." },
  ACCOUNT_SUSPENDED: { status: 403, meaning: "The account of the API key is suspended." },
  INSUFFICIENT_SCOPE: { status: 403, meaning: "The scope of the API key does not include this operation." },
  PET_NOT_FOUND: { status: 404, meaning: "No pet has this identifier." },
  ROUTE_NOT_FOUND: { status: 404, meaning: "No resource has this path." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The resource does not support this method; the Allow header lists the methods that it supports.",
  },
  NOT_ACCEPTABLE: { status: 406, meaning: "The Accept header excludes application/json." },
  REQUEST_TIMEOUT: { status: 408, meaning: "The request did not arrive completely within its time limit." },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, meaning: "The first request with this idempotency key is still running." },
  ENDPOINT_REMOVED: {
    status: 410,
    meaning:
      "The endpoint was removed on the date of its Sunset header, or its removal is rehearsed and the Retry-After header says how many seconds to wait; the Link header names its replacement.",
  },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: "The request body exceeds 64 KiB." },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The Content-Type is not application/json in UTF-8, or the body is compressed.",
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, meaning: "The idempotency key was used before, with another body." },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning:
      "The quota of this minute has too few units left for the request; the Retry-After header says how many seconds to wait.",
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    meaning:
      "The quota of this day has too few units left for the request; the Retry-After header says how many seconds to wait.",
  },
  API_KEY_BANNED: {
    status: 429,
    meaning:
      "The API key is banned for a while because it kept sending requests after 429; the Retry-After header says how many seconds to wait.",
  },
  HEADERS_TOO_LARGE: { status: 431, meaning: "The header section exceeds 16 KiB or 200 fields." },
  INTERNAL_ERROR: {
    status: 500,
    meaning:
      "The service failed unexpectedly; the operator finds the cause in the log by the X-Request-Id of the response.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning:
      "The service is overloaded, or something that it needs is unavailable; the Retry-After header says how many seconds to wait.",
  },
} as const;

/** The guide to these errors, in Markdown. */
export const errorGuide: URL = new URL("../errors.md", import.meta.url);

export type ProblemCode = keyof typeof problems;

interface ProblemOptions {
  /** The error behind this one, for the log. It is never sent. */
  readonly cause?: unknown;
  /** Seconds until a retry can succeed, for the Retry-After header (RFC 9110 section 10.2.3). */
  readonly retryAfterSeconds?: number;
}

/** An error that a client may see. Its message names the field and the rule. It never contains SQL or an API key. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, message: string = problems[code].meaning, options: ProblemOptions = {}) {
    super(message, options);
    this.name = "Problem";
    this.code = code;
    this.status = problems[code].status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Anything thrown that is not a Problem becomes INTERNAL_ERROR. */
  static from(thrown: unknown): Problem {
    return thrown instanceof Problem ? thrown : new Problem("INTERNAL_ERROR", undefined, { cause: thrown });
  }

  toJSON(): Pick<Problem, "code" | "message" | "status"> {
    return { code: this.code, message: this.message, status: this.status };
  }
}
