// Whether both APIs count in one place.
import { type Finding, fault, ok, skipped } from "../finding.js";
import { byApi, type ListedByBoth } from "./lists.js";
import type { StoreResponse } from "./store-client.js";

export const sharedQuota = "quota";

/**
 * Each list takes one unit, so the count falls from each response to the next one, in whatever API. Other programs may take
 * units too. `lists` are two rounds in the same windows, so that two separate counts do not look like one by chance.
 */
export function checkSharedQuota(lists: readonly ListedByBoth[]): Finding {
  const counts = lists.flatMap(byApi).map(([, response]) => countIn(response));
  if (counts.some(({ remaining }) => Number.isNaN(remaining))) {
    return skipped(sharedQuota, "responses lack X-RateLimit-Remaining, so the counts of the APIs cannot be compared");
  }
  const left = counts.map(({ remaining }) => remaining);
  const isFalling = left.every((count, index) => index === 0 || count < (left[index - 1] ?? 0));
  const isOneWindow = new Set(counts.map(({ limit, reset }) => `${limit} ${reset}`)).size === 1;
  const found = `lists over REST and GraphQL in turn left ${left.join(", ")} units`;
  if (isFalling && isOneWindow) return ok(sharedQuota, `one for both APIs: ${found}`);
  const advice = "Set the same REDIS_URL for all instances of both APIs.";
  return fault(sharedQuota, `${found}: an account is granted its limit more than once`, advice, "redis-is-unavailable");
}

/** True if a minute or a day has begun between the lists, so that their counts cannot be compared. */
export function hasWindowChanged(lists: readonly ListedByBoth[]): boolean {
  const resetsOf = (api: "rest" | "graphql") => new Set(lists.map((list) => countIn(list[api]).reset));
  return resetsOf("rest").size > 1 || resetsOf("graphql").size > 1;
}

interface Count {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

function countIn({ headers }: StoreResponse): Count {
  const number = (name: string) => Number.parseInt(headers[`x-ratelimit-${name}`] ?? "", 10);
  return { limit: number("limit"), remaining: number("remaining"), reset: number("reset") };
}
