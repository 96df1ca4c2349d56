import { openRedisServer } from "@petstore/testing/redis";
import { exactly } from "./measure.js";
import type { Check, Scenario } from "./scenario.js";
import type { Stage } from "./stage.js";
import type { Exchange } from "./traffic.js";

/**
 * For rows in which Redis is never away: a machine too busy for the default of 100 ms would turn them into rows about an
 * outage.
 */
export const patient = { REDIS_COMMAND_TIMEOUT_MS: "1000" };
const hourMs = 3_600_000;

export const sharingScenarios: readonly Scenario[] = [
  {
    group: "redis",
    name: "shared-exactly",
    cause: "two processes, one account, limit 1,000, 10,000 requests by 200 callers",
    expected: "exactly 1,000 admitted",
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      await stage.startServices([redis.url], patient);
      return [await checkAdmitted(stage, 1_000, { callers: 200, requests: 10_000 })];
    },
  },
  {
    group: "redis",
    name: "limit-1",
    cause: "two processes, one account, limit 1, 1,000 requests at once",
    expected: "exactly 1 admitted",
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      await stage.startServices([redis.url], patient);
      return [await checkAdmitted(stage, 1, { callers: 1_000, requests: 1_000 })];
    },
  },
  {
    group: "redis",
    name: "clock-off",
    cause: "the clock of one instance is an hour ahead; then Redis is killed",
    expected: "windows unchanged, on Redis's time, also while it is away",
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      await stage.startServices([redis.url], patient, [{}, { clockOffsetMs: hourMs }]);
      const limits = { perMinute: 1_000, perDay: 10_000_000 };
      const shared = await stage.load({ limits, pauseMs: 20, requests: 1_000 });
      await shared.done;
      stage.mark();
      await redis.kill();
      const alone = await stage.load({ limits, pauseMs: 20, requests: 1_000 });
      await alone.done;
      return [
        exactly(0, "resets that are not the end of this minute", shared.exchanges.filter(isElsewhere).length),
        exactly(0, "and while Redis is away", alone.exchanges.filter(isElsewhere).length),
      ];
    },
  },
];

/** Limited by the day: no minute ends in the middle of it. */
async function checkAdmitted(
  stage: Stage,
  limit: number,
  { callers, requests }: { readonly callers: number; readonly requests: number },
): Promise<Check> {
  const load = await stage.load({ limits: { perMinute: 10_000_000, perDay: limit }, callers, requests, pauseMs: 0 });
  await load.done;
  return exactly(limit, `admitted of ${requests}`, load.exchanges.filter(({ status }) => status < 300).length);
}

function isElsewhere({ sentAtMs, durationMs, rateLimit }: Exchange): boolean {
  const ends = [sentAtMs, sentAtMs + durationMs].map((atMs) => (Math.floor(atMs / 60_000) + 1) * 60_000);
  return !ends.includes(rateLimit?.resetAtMs ?? 0);
}
