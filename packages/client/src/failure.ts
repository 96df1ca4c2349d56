import { ApiKeyBannedError, isServiceErrorCode, PetStoreError } from "./pet-store-error.js";
import type { PetStoreResponse } from "./request.js";
import { readRetryAfterMs } from "./response-headers.js";

/** The error that a response describes; `undefined` for a success (2xx). */
export function failureOf({ status, headers, text }: PetStoreResponse, nowMs: number): PetStoreError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = readRetryAfterMs(headers, nowMs);
  const retryAt = retryAfterMs === undefined ? undefined : new Date(nowMs + retryAfterMs);
  const details = { status, retryAfterMs, retryAt, requestId: headers.get("x-request-id") ?? undefined };
  const { code, message } = parseErrorBody(text);
  if (!isServiceErrorCode(code)) {
    return new PetStoreError(
      "UNEXPECTED_RESPONSE",
      `The response with status ${status} is not from the pet store.`,
      details,
    );
  }
  if (code === "API_KEY_BANNED" && retryAt !== undefined)
    return new ApiKeyBannedError(message, { ...details, retryAt });
  return new PetStoreError(code, message, details);
}

/** True if the failure is temporary: the same request may succeed later. */
export function isRetryable({ code, status = 0 }: PetStoreError): boolean {
  switch (code) {
    case "RATE_LIMIT_EXCEEDED":
    case "DAILY_QUOTA_EXCEEDED":
    case "IDEMPOTENCY_IN_PROGRESS":
    case "REQUEST_TIMEOUT":
    case "INTERNAL_ERROR":
      return true;
    default:
      return isUnavailable({ code, status });
  }
}

/** True if the service or the network is unavailable for every request, not only for this one. */
export function isUnavailable({ code, status = 0 }: Pick<PetStoreError, "code" | "status">): boolean {
  switch (code) {
    case "NETWORK_ERROR":
    case "TIMEOUT":
    case "SERVICE_UNAVAILABLE":
      return true;
    case "UNEXPECTED_RESPONSE":
      return status === 429 || status >= 502;
    default:
      return false;
  }
}

function parseErrorBody(text: string): { readonly code: unknown; readonly message: string } {
  try {
    const { code, message } = JSON.parse(text) as Record<string, unknown>;
    return { code, message: String(message) };
  } catch {
    // The body is `null` or not JSON. It is not from the pet store, so the caller gets UNEXPECTED_RESPONSE.
    return { code: undefined, message: "" };
  }
}
