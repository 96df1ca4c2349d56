import { type PetStoreResponse, readRetryAfterMs } from "./response-headers.js";

/** The `code` values that this version of the client knows. A newer service may send others. */
export const serviceErrorCodes = [
  "INVALID_JSON",
  "VALIDATION_FAILED",
  "INVALID_CURSOR",
  "OPERATION_TOO_LARGE",
  "MALFORMED_REQUEST",
  "API_KEY_MISSING",
  "API_KEY_INVALID",
  "API_KEY_EXPIRED",
  "API_KEY_REVOKED",
  "ACCOUNT_SUSPENDED",
  "INSUFFICIENT_SCOPE",
  "PET_NOT_FOUND",
  "ROUTE_NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "NOT_ACCEPTABLE",
  "REQUEST_TIMEOUT",
  "IDEMPOTENCY_IN_PROGRESS",
  "ENDPOINT_REMOVED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "IDEMPOTENCY_KEY_REUSED",
  "RATE_LIMIT_EXCEEDED",
  "DAILY_QUOTA_EXCEEDED",
  "API_KEY_BANNED",
  "HEADERS_TOO_LARGE",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
] as const;

export type ServiceErrorCode = (typeof serviceErrorCodes)[number];

/**
 * Errors that the client detects:
 * - `NETWORK_ERROR`: the request failed without a response.
 * - `TIMEOUT`: no complete response arrived within `timeoutMs`.
 * - `UNEXPECTED_RESPONSE`: the response is not from the pet store. It may be from a proxy.
 * - `QUEUE_FULL`: `maxQueued` calls are waiting already.
 */
export type ClientErrorCode = (typeof clientErrorCodes)[number];

const clientErrorCodes = ["NETWORK_ERROR", "TIMEOUT", "UNEXPECTED_RESPONSE", "QUEUE_FULL"] as const;

/** A known code, or any other code that a newer service sends. Editors suggest the known ones. */
export type PetStoreErrorCode = ServiceErrorCode | ClientErrorCode | (string & {});

export type PetStoreErrorDetails = Partial<
  Pick<PetStoreError, "status" | "retryAfterMs" | "retryAt" | "requestId" | "cause">
>;

/** The error of a failed call. Use `code` to handle it; the message is for people and may change. */
export class PetStoreError extends Error {
  readonly code: PetStoreErrorCode;
  /** The HTTP status; `undefined` without a response. */
  readonly status: number | undefined;
  /** How long to wait before the same call can succeed, from Retry-After. Always set for the service's 429 errors. */
  readonly retryAfterMs: number | undefined;
  /** The end of `retryAfterMs`, on the local clock. */
  readonly retryAt: Date | undefined;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(code: PetStoreErrorCode, message: string, details: PetStoreErrorDetails = {}) {
    super(message, details);
    this.name = "PetStoreError";
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.retryAt = details.retryAt;
    this.requestId = details.requestId;
  }
}

/** The key is banned because requests went on after a 429. The client rejects every call with this error until the ban ends. */
export class ApiKeyBannedError extends PetStoreError {
  declare readonly code: "API_KEY_BANNED";
  readonly bannedUntil: Date;

  constructor(message: string, details: PetStoreErrorDetails & { readonly retryAt: Date }) {
    super("API_KEY_BANNED", message, details);
    this.name = "ApiKeyBannedError";
    this.bannedUntil = details.retryAt;
  }
}

/** Returns `undefined` for a success (2xx). */
export function failureOf({ status, headers, text }: PetStoreResponse, nowMs: number): PetStoreError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = readRetryAfterMs(headers, nowMs);
  const retryAt = retryAfterMs === undefined ? undefined : new Date(nowMs + retryAfterMs);
  const details = { status, retryAfterMs, retryAt, requestId: headers.get("x-request-id") ?? undefined };
  const body = parseErrorBody(text, status);
  if (body === undefined) {
    const message = `The response with status ${status} is not from the pet store.`;
    return new PetStoreError("UNEXPECTED_RESPONSE", message, details);
  }
  const { code, message } = body;
  if (code === "API_KEY_BANNED" && retryAt !== undefined)
    return new ApiKeyBannedError(message, { ...details, retryAt });
  return new PetStoreError(code, message, details);
}

/** The service or the network is unavailable for every request, not only for this one. */
const unavailableCodes: readonly string[] = ["NETWORK_ERROR", "TIMEOUT", "SERVICE_UNAVAILABLE"];
/** The same request may succeed later. */
const retryableCodes: readonly string[] = [
  "RATE_LIMIT_EXCEEDED",
  "DAILY_QUOTA_EXCEEDED",
  "IDEMPOTENCY_IN_PROGRESS",
  "REQUEST_TIMEOUT",
  "INTERNAL_ERROR",
];

export function isRetryable(failure: PetStoreError): boolean {
  return retryableCodes.includes(failure.code) || isUnavailable(failure);
}

export function isUnavailable({ code, status = 0, retryAfterMs }: PetStoreError): boolean {
  // A proxy has removed Retry-After, so the length of the wait is unknown.
  if (status === 429 && retryAfterMs === undefined) return true;
  // For a response of a proxy, and for a code that only a newer service knows, the status decides.
  if (!isServiceCode(code) && (status === 429 || status >= 502)) return true;
  return unavailableCodes.includes(code);
}

/**
 * Returns `undefined` if the body is not an error of the pet store. Its code may be unknown here: a newer service may send
 * it. One of the client's own codes is refused, because callers could not tell the two meanings apart.
 */
function parseErrorBody(text: string, httpStatus: number): { code: string; message: string } | undefined {
  try {
    const { code, message, status } = JSON.parse(text);
    const isCode = typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) && !isClientCode(code);
    if (isCode && typeof message === "string" && status === httpStatus) return { code, message };
  } catch {
    // The body is `null` or not JSON.
  }
  return undefined;
}

function isServiceCode(code: string): boolean {
  return (serviceErrorCodes as readonly string[]).includes(code);
}

function isClientCode(code: string): boolean {
  return (clientErrorCodes as readonly string[]).includes(code);
}
