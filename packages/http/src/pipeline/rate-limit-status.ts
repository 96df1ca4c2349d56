import { type QuotaReport, remaining, rfc3339, type Ticket, type WindowState } from "@petstore/core";
import { jsonReply } from "./reply.js";
import type { Resource } from "./resource.js";
import { createSecondLimit } from "./second-limit.js";
import { serviceLinks } from "./service-links.js";

const perSecond = 200;

/** `GET /rate_limit` needs a key and costs nothing. The limit stops floods: no program needs to ask so often. */
export function createRateLimitStatus(monotonicNow: () => number): Resource {
  const message = `Each key can read its rate limit ${perSecond} times a second; wait for Retry-After.`;
  return {
    path: "/rate_limit",
    charge: "free",
    limitKey: createSecondLimit(perSecond, message, monotonicNow),
    GET: async (_request, { key, quota }) => ({ ...jsonReply(200, bodyOf(key, quota)), links: serviceLinks }),
  };
}

/** A field without a value is null. */
function bodyOf({ plan, prefix, name, scope, expiresAt, accountName }: Ticket["key"], quota: QuotaReport): string {
  const bannedUntilMs = "bannedUntilMs" in quota ? quota.bannedUntilMs : undefined;
  const bannedUntil = bannedUntilMs === undefined ? null : Math.ceil(bannedUntilMs / 1000);
  const end = expiresAt && rfc3339(expiresAt);
  return JSON.stringify({
    plan,
    minute: shown(quota.minute),
    day: shown(quota.day),
    bannedUntil,
    key: { prefix: prefix ?? null, name: name ?? null, scope, expiresAt: end ?? null },
    account: { name: accountName, plan },
  });
}

/** The names of GitHub's `GET /rate_limit`; `reset` in epoch seconds, as in X-RateLimit-Reset. */
function shown(window: WindowState): object {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), reset: Math.ceil(resetAtMs / 1000) };
}
