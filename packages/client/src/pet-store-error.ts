/** What the service answers, by its `code` (the interface's Error shape). */
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
 * What the client finds by itself: no answer (`NETWORK_ERROR`), none in time (`TIMEOUT`), an answer that is not this
 * service's (`UNEXPECTED_RESPONSE`: often a proxy's), or more calls waiting than `maxQueued` (`QUEUE_FULL`).
 */
export type ClientErrorCode = "NETWORK_ERROR" | "TIMEOUT" | "UNEXPECTED_RESPONSE" | "QUEUE_FULL";

export type PetStoreErrorCode = ServiceErrorCode | ClientErrorCode;

export interface PetStoreErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly retryAt?: Date | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** A call that failed. Decide by `code`; the message is for people and may change. */
export class PetStoreError extends Error {
  readonly code: PetStoreErrorCode;
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** How long to wait before the same call can succeed, as the answer told; always there with status 429. */
  readonly retryAfterMs: number | undefined;
  /** The same as an instant of this machine's clock. */
  readonly retryAt: Date | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(code: PetStoreErrorCode, message: string, details: PetStoreErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.name = "PetStoreError";
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.retryAt = details.retryAt;
    this.requestId = details.requestId;
  }
}

/** The key is banned, for calling on after 429. Every call until then is answered with this, without asking again. */
export class ApiKeyBannedError extends PetStoreError {
  declare readonly code: "API_KEY_BANNED";
  readonly bannedUntil: Date;

  constructor(message: string, details: PetStoreErrorDetails & { readonly retryAt: Date }) {
    super("API_KEY_BANNED", message, details);
    this.name = "ApiKeyBannedError";
    this.bannedUntil = details.retryAt;
  }
}

export function isServiceErrorCode(code: unknown): code is ServiceErrorCode {
  return (serviceErrorCodes as readonly unknown[]).includes(code);
}
