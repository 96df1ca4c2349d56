import type { Reply } from "./api.js";

/** The headers that must be equal through every interface. A value that changes between requests becomes a word. */
export function comparableHeaders({ outcome, headers, receivedAtMs }: Reply): Readonly<Record<string, string>> {
  const compared = Object.fromEntries(equalHeaders.map((name) => [name, headers[name] ?? ""]));
  const reset = Number(headers["x-ratelimit-reset"]);
  const leftSeconds = reset - receivedAtMs / 1_000;
  const retryAfter = headers["retry-after"] ?? "";
  const isRefused = outcome.kind === "failure" && outcome.status === 429;
  return {
    ...compared,
    "x-ratelimit-reset": windowOf(reset, leftSeconds),
    // `t`, the seconds that are left, decreases between two requests.
    ratelimit: headers.ratelimit?.replaceAll(/;t=\d+/g, "") ?? "",
    "retry-after":
      isRefused && Math.abs(Number(retryAfter) - leftSeconds) <= 2 ? "until the reset" : banOr(retryAfter, outcome),
    "x-request-id": newRequestId.test(headers["x-request-id"] ?? "") ? "new" : (headers["x-request-id"] ?? ""),
  };
}

const equalHeaders = [
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "allow",
  "cache-control",
  "content-type",
  "idempotency-replayed",
  "ratelimit-policy",
  "www-authenticate",
  "x-content-type-options",
  "x-powered-by",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
];

const newRequestId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The rest of a ban becomes shorter between two requests. */
function banOr(retryAfter: string, outcome: Reply["outcome"]): string {
  const isBanned = outcome.kind === "failure" && outcome.code === "API_KEY_BANNED";
  return isBanned && Number(retryAfter) > 0 ? "until the end of the ban" : retryAfter;
}

function windowOf(reset: number, leftSeconds: number): string {
  if (reset % 60 === 0 && leftSeconds > -1 && leftSeconds <= 61) return "end of the minute";
  if (reset % 86_400 === 0 && leftSeconds > 0 && leftSeconds <= 86_401) return "end of the day";
  return `${reset}`;
}
