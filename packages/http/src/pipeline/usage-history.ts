import type { AccountUsage, Core } from "@petstore/core";
import { jsonReply } from "./reply.js";
import type { Resource } from "./resource.js";
import { createSecondLimit } from "./second-limit.js";
import { serviceLinks } from "./service-links.js";

/** `GET /usage/history` needs a key and costs nothing. Each key may call it once in a second. */
export function createUsageHistory({ accountUsage }: Pick<Core, "accountUsage">, monotonicNow: () => number): Resource {
  const message = "Each key can read the usage history once a second; wait for Retry-After.";
  return {
    path: "/usage/history",
    charge: "free",
    limitKey: createSecondLimit(1, message, monotonicNow),
    async GET(_request, { caller, quota }) {
      // The clock of the quota, which also decides in which hour a unit counts.
      const body = bodyOf(await accountUsage(caller.accountId, quota.nowMs));
      return { ...jsonReply(200, body), links: serviceLinks };
    },
  };
}

/** Key ids are strings, as in the JSON of the `petstore` command. `key` is null for the sum of the keys that are not listed. */
function bodyOf({ hoursMs, daysMs, series }: AccountUsage): string {
  return JSON.stringify({
    hours: hoursMs.map((ms) => `${isoTime(ms).slice(0, 19)}Z`),
    days: daysMs.map((ms) => isoTime(ms).slice(0, 10)),
    series: series.map(({ key, api, hours, days }) => ({
      key: key === undefined ? null : { id: `${key.id}`, name: key.name ?? null, prefix: key.prefix ?? null },
      api,
      hours,
      days,
    })),
  });
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
