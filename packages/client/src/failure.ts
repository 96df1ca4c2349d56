import { readRetryAfterMs } from "./answer-headers.js";
import type { Answer } from "./exchange.js";
import { ApiKeyBannedError, isServiceErrorCode, PetStoreError } from "./pet-store-error.js";

/** The error an answer stands for; `undefined` when it succeeded. */
export function failureOf({ status, headers, text }: Answer, nowMs: number): PetStoreError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const retryAfterMs = readRetryAfterMs(headers, nowMs);
  const retryAt = retryAfterMs === undefined ? undefined : new Date(nowMs + retryAfterMs);
  const details = { status, retryAfterMs, retryAt, requestId: headers.get("x-request-id") ?? undefined };
  const { code, message } = errorShape(text);
  if (!isServiceErrorCode(code)) {
    return new PetStoreError("UNEXPECTED_RESPONSE", `The answer ${status} is not the pet store's.`, details);
  }
  if (code === "API_KEY_BANNED" && retryAt !== undefined)
    return new ApiKeyBannedError(message, { ...details, retryAt });
  return new PetStoreError(code, message, details);
}

/** Another attempt may succeed: the same request is refused, fails or is lost for reasons that pass. */
export function isPassing({ code, status = 0 }: PetStoreError): boolean {
  switch (code) {
    case "RATE_LIMIT_EXCEEDED":
    case "DAILY_QUOTA_EXCEEDED":
    case "IDEMPOTENCY_IN_PROGRESS":
    case "REQUEST_TIMEOUT":
    case "INTERNAL_ERROR":
      return true;
    default:
      return isAway({ code, status });
  }
}

/** The service, or the way to it, is away for everybody: not the fault of one request. */
export function isAway({ code, status = 0 }: Pick<PetStoreError, "code" | "status">): boolean {
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

function errorShape(text: string): { readonly code: unknown; readonly message: string } {
  try {
    const { code, message } = JSON.parse(text) as Record<string, unknown>;
    return { code, message: String(message) };
  } catch {
    // Not JSON, or `null`: not this service's answer, which is what the caller is told.
    return { code: undefined, message: "" };
  }
}
