// The contract table compares these headers, so it must notice each difference.
import { describe, expect, it } from "vitest";
import type { Reply } from "./api.js";
import { comparableHeaders } from "./comparable-headers.js";

const receivedAtMs = Date.UTC(2027, 4, 3, 12, 0, 20);
const endOfMinute = `${receivedAtMs / 1_000 + 40}`;
const banned: Reply = {
  receivedAtMs,
  outcome: { kind: "failure", code: "API_KEY_BANNED", message: "The key is banned.", status: 429 },
  headers: {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": endOfMinute,
    ratelimit: '"minute";r=59;t=40, "day";r=999;t=43180',
    "ratelimit-policy": '"minute";q=60;w=60',
    "retry-after": "90",
    "www-authenticate": "Bearer",
    "x-request-id": "0c8f7f1e-3c38-4c4b-9d5f-111111111111",
    "cache-control": "no-store",
  },
};
const unavailable: Reply = {
  ...banned,
  outcome: { kind: "failure", code: "SERVICE_UNAVAILABLE", message: "Try again.", status: 503 },
};

describe("equal headers", () => {
  it.each([
    ["a later moment of the same minute", { ratelimit: '"minute";r=59;t=39, "day";r=999;t=43179' }],
    ["another new request id", { "x-request-id": "ffffffff-3c38-4c4b-9d5f-222222222222" }],
    ["a shorter rest of a ban", { "retry-after": "88" }],
  ])("have %s", (_difference, headers) => {
    expect(changed(banned, headers)).toEqual([]);
  });
});

describe("a difference is noticed in", () => {
  it.each([
    ["x-ratelimit-limit", "61"],
    ["x-ratelimit-remaining", "58"],
    ["x-ratelimit-reset", `${receivedAtMs / 1_000 + 12 * 3_600 - 20}`],
    ["ratelimit", '"minute";r=58;t=40, "day";r=999;t=43180'],
    ["ratelimit-policy", "none"],
    ["x-request-id", "mine"],
    ["cache-control", "public"],
    ["idempotency-replayed", "true"],
    ["www-authenticate", "Basic"],
    ["retry-after", ""],
  ])("%s", (name, value) => {
    expect(changed(banned, { [name]: value })).toEqual([name]);
  });

  it("the Retry-After of an unavailable service, which is a constant", () => {
    expect(changed(unavailable, { "retry-after": "89" })).toEqual(["retry-after"]);
  });
});

function changed(reply: Reply, headers: Readonly<Record<string, string>>): string[] {
  const before = comparableHeaders(reply);
  const after = comparableHeaders({ ...reply, headers: { ...reply.headers, ...headers } });
  return Object.keys(after).filter((name) => after[name] !== before[name]);
}
