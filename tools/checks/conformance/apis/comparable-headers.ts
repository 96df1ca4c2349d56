import type { Reply } from "./api.js";

/** `Link` names paths of one API, and only REST has an `ETag`. The others belong to one message or connection. */
const incomparable = [
  "connection",
  "content-length",
  "date",
  "etag",
  "keep-alive",
  "link",
  "transfer-encoding",
  "vary",
];

/** The headers that must be equal through every interface. A value that changes between requests becomes a word. */
export function comparableHeaders(headers: Reply["headers"]): Readonly<Record<string, string>> {
  const compared = Object.entries(headers).filter(([name]) => !incomparable.includes(name));
  const reset = Number(headers["x-ratelimit-reset"]);
  const leftSeconds = reset - Date.parse(headers.date ?? "") / 1_000;
  const retryAfter = headers["retry-after"];
  const requestId = headers["x-request-id"] ?? "";
  return {
    ...Object.fromEntries(compared),
    // Only a response with an ETag may be stored.
    ...(headers.etag !== undefined &&
      headers["cache-control"] === "private, no-cache" && { "cache-control": "no-store" }),
    "x-ratelimit-reset": windowOf(reset, leftSeconds),
    // `t`, the seconds that are left, decreases between two requests.
    ratelimit: headers.ratelimit?.replaceAll(/;t=\d+/g, "") ?? "",
    ...(retryAfter !== undefined && { "retry-after": momentOf(Number(retryAfter), leftSeconds) }),
    "x-request-id": newRequestId.test(requestId) ? "new" : requestId,
  };
}

const newRequestId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

function windowOf(reset: number, leftSeconds: number): string {
  if (reset % 60 === 0 && leftSeconds > -1 && leftSeconds <= 61) return "end of the minute";
  if (reset % 86_400 === 0 && leftSeconds > 0 && leftSeconds <= 86_401) return "end of the day";
  return `${reset}`;
}

/** A ban ends later than the window. */
function momentOf(retryAfterSeconds: number, leftSeconds: number): string {
  if (Math.abs(retryAfterSeconds - leftSeconds) <= 2) return "at the reset";
  return retryAfterSeconds > leftSeconds ? "after the reset" : `${retryAfterSeconds}`;
}
