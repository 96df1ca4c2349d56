import { type QuotaReport, remaining, type WindowState } from "@petstore/core";
import { jsonReply } from "./reply.js";
import type { Resource } from "./resource.js";
import { serviceLinks } from "./service-links.js";

/** `GET /rate_limit` needs a key and costs nothing. */
export const rateLimitStatus: Resource = {
  path: "/rate_limit",
  cost: 0,
  GET: async (_request, { key, quota }) => ({ ...jsonReply(200, bodyOf(key.plan, quota)), links: serviceLinks }),
};

function bodyOf(plan: string, quota: QuotaReport): string {
  const bannedUntilMs = "bannedUntilMs" in quota ? quota.bannedUntilMs : undefined;
  const bannedUntil = bannedUntilMs === undefined ? null : Math.ceil(bannedUntilMs / 1000);
  return JSON.stringify({ plan, minute: shown(quota.minute), day: shown(quota.day), bannedUntil });
}

/** The names of GitHub's `GET /rate_limit`; `reset` in epoch seconds, as in X-RateLimit-Reset. */
function shown(window: WindowState): object {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), reset: Math.ceil(resetAtMs / 1000) };
}
