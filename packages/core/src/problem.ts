/**
 * Every error of the service, with its HTTP status. REST sends it as the schema `Error` of openapi.yaml, GraphQL in
 * `errors[].extensions`. The meaning is the default message. The reference `packages/core/errors.md` shows the meaning, and the
 * remedy: what the caller can do.
 */
export const problems = {
  INVALID_JSON: {
    status: 400,
    meaning: "The JSON of the request is not well-formed or not in UTF-8.",
    remedy: "Send one JSON value in UTF-8, without comments, trailing commas or repeated names.",
  },
  VALIDATION_FAILED: {
    status: 400,
    meaning: "A parameter, header or field is missing, unknown or out of its range.",
    remedy: "Correct the parameters that the message names. The reference lists the rules of each one.",
  },
  INVALID_CURSOR: {
    status: 400,
    meaning: "This list did not return the cursor, or returned it for another filter.",
    remedy: "Take the cursor from the last page of the same list, and keep the same `status`.",
  },
  GRAPHQL_PARSE_FAILED: {
    status: 400,
    meaning: "The query is not a GraphQL document, or has more than 1,000 tokens.",
    remedy: "Correct the query at the location that the error gives, or split it.",
  },
  GRAPHQL_VALIDATION_FAILED: {
    status: 400,
    meaning: "The GraphQL document does not fit the schema or its limits.",
    remedy: "Compare the document with the schema, and use fewer or less deeply nested fields.",
  },
  OPERATION_TOO_LARGE: {
    status: 400,
    meaning: "The request has more than 10 root fields, or needs more units than its limit could ever admit.",
    remedy: "Split the operation into several requests.",
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 400,
    meaning: "This process does not have the persisted query; send the document with its hash.",
    remedy: "Send the request again with `query` and the same hash. GraphQL clients with persisted queries do this.",
  },
  MALFORMED_REQUEST: {
    status: 400,
    meaning: "The request line, the header section or the framing is not HTTP/1.1.",
    remedy: "Use a standard HTTP client, and look for a proxy that changes the request.",
  },
  API_KEY_MISSING: {
    status: 401,
    meaning: "No API key was sent as a bearer token.",
    remedy: "Send the header `Authorization: Bearer YOUR_API_KEY`.",
  },
  API_KEY_INVALID: {
    status: 401,
    meaning: "The API key is malformed or unknown.",
    remedy: "Copy the whole key again, and check that it belongs to this service.",
  },
  API_KEY_EXPIRED: {
    status: 401,
    meaning: "The API key is past its expiry.",
    remedy: "Ask the operator of the service for a new key.",
  },
  API_KEY_REVOKED: {
    status: 401,
    meaning: "The API key was revoked.",
    remedy: "Ask the operator of the service for a new key.",
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    meaning: "The account of the API key is suspended.",
    remedy: "Ask the operator of the service why the account is suspended.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: "The scope of the API key does not include this operation.",
    remedy: "Ask the operator of the service for a key with a scope that includes the operation.",
  },
  PET_NOT_FOUND: {
    status: 404,
    meaning: "No pet has this identifier.",
    remedy: "Check the identifier, or find the pet in the list.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    meaning: "No resource has this path.",
    remedy: "Check the path. The paths of the REST API begin with `/v1/`.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The resource has no such method; Allow lists the ones it has.",
    remedy: "Use a method that the `Allow` header lists.",
  },
  NOT_ACCEPTABLE: {
    status: 406,
    meaning: "The Accept header excludes application/json.",
    remedy: "Send `Accept: application/json`, or leave the header out.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning: "The request did not arrive whole within its time limit.",
    remedy: "Send the request again. Send the headers and the body without long pauses.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    meaning: "The first request with this idempotency key is still running.",
    remedy: "Wait for `Retry-After`, then repeat the same request with the same key.",
  },
  ENDPOINT_REMOVED: {
    status: 410,
    meaning: "The endpoint is past its removal date; Link names the replacement.",
    remedy: "Use the endpoint that the `Link` header names as `successor-version`.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: "The request body exceeds 64 KiB.",
    remedy: "Send a smaller body.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The Content-Type is not application/json in UTF-8, or the body is compressed.",
    remedy: "Send `Content-Type: application/json`, and do not compress the body.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: "The idempotency key was used before, with another body.",
    remedy: "Use a new key for each new pet. Repeat a request only with its own body.",
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: "The requests of this minute are used up; Retry-After says when to return.",
    remedy: "Wait for `Retry-After`, then repeat the request. A higher plan has higher limits.",
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    meaning: "The requests of this day are used up; Retry-After says when to return.",
    remedy: "Wait for `Retry-After`, then repeat the request. A higher plan has higher limits.",
  },
  API_KEY_BANNED: {
    status: 429,
    meaning: "The key kept calling after 429 and is banned; Retry-After says until when.",
    remedy: "Stop all programs that use the key until `Retry-After`, and make them obey it.",
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    meaning: "The header section exceeds 16 KiB or 200 fields.",
    remedy: "Send fewer or shorter headers.",
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: "The service failed in a way it did not expect; the request id finds the log line.",
    remedy: "Report the `X-Request-Id` of the response to the operator of the service.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: "A dependency of the service is unavailable; Retry-After says when to return.",
    remedy: "Wait for `Retry-After`, then repeat the request. Repeat a create only with its idempotency key.",
  },
} as const;

export type ProblemCode = keyof typeof problems;

interface ProblemOptions {
  /** The error behind this one. It is logged once, when the response is written, and never sent. */
  readonly cause?: unknown;
  /** Seconds until a retry can succeed, for the Retry-After header (RFC 9110 section 10.2.3). */
  readonly retryAfterSeconds?: number;
}

/** An error that a client may see. Its message names the field and the rule; it never repeats input, SQL or keys. */
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

  /** The only way from another error to a public one: anything thrown that is not a Problem becomes INTERNAL_ERROR. */
  static from(thrown: unknown): Problem {
    return thrown instanceof Problem ? thrown : new Problem("INTERNAL_ERROR", undefined, { cause: thrown });
  }

  /** The schema `Error` of the REST interface. */
  toJSON(): Pick<Problem, "code" | "message" | "status"> {
    return { code: this.code, message: this.message, status: this.status };
  }
}

/** The table in Markdown: the file `packages/core/errors.md`, and a page of each API. Each code is an anchor. */
export function problemReference(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, meaning, remedy }]) =>
      `| ${status} | <a id="${code}" href="#${code}"><code>${code}</code></a> | ${meaning} | ${remedy} |`,
  );
  return `# Error codes

Every error body of the REST API is \`{"code", "message", "status"}\`; the GraphQL API has \`code\` and \`status\` in an
error's \`extensions\`. Programs should decide by \`code\`: messages may change. Every response with an error has a \`Link\`
header with \`rel="help"\`, which is the address of its code on this page.

| status | code | meaning | what to do |
|---|---|---|---|
${rows.join("\n")}
`;
}
