import { setTimeout as sleep } from "node:timers/promises";
import { openRedisServer } from "@petstore/harness/redis";
import { type Api, fourProcesses } from "./api.js";
import { nowMs } from "./ask.js";
import { patient } from "./environment.js";
import { type Exchange, isBanned, isGood } from "./exchange.js";
import { atMost, exactly } from "./measure.js";
import type { Check, Scenario } from "./scenario.js";
import { type Stage, withinOneMinute } from "./stage.js";

const accounts = 50;
const rushes = 5;
const hourMs = 3_600_000;
const banMs = 3_000;

export const sharingScenarios: readonly Scenario[] = [
  {
    group: "redis",
    needs: ["redis-server"],
    name: "shared-exactly",
    cause: `2 REST and 2 GraphQL processes, limit 1,000, 10,000 requests by 200 callers, for each of ${accounts} accounts in turn`,
    expected: "exactly 1,000 admitted of each",
    run: (stage) => checkAdmitted(stage, { accounts, limit: 1_000, callers: 200, requests: 10_000 }),
  },
  {
    group: "redis",
    needs: ["redis-server"],
    name: "limit-1",
    cause: `2 REST and 2 GraphQL processes, limit 1, 1,000 requests at once, for each of ${rushes} accounts in turn`,
    expected: "exactly 1 admitted of each",
    run: (stage) => checkAdmitted(stage, { accounts: rushes, limit: 1, callers: 1_000, requests: 1_000 }),
  },
  {
    group: "redis",
    needs: ["redis-server", "faketime"],
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
  {
    group: "redis",
    name: "clock-off-ban",
    cause: `the clock of one instance is 25 hours ahead, of another one hour behind; a key is banned for ${banMs / 1_000} s`,
    expected: "the ban ends on all within 1 s of its end by Redis's time",
    needs: ["redis-server", "faketime"],
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const bans = { BAN_STRIKES: "20", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0", BAN_FIRST_MS: `${banMs}` };
      const skewed = [{}, { clockOffsetMs: 25 * hourMs }, { clockOffsetMs: -hourMs }];
      const services = await stage.startServices([redis.url], { ...patient, ...bans }, skewed);
      await withinOneMinute(10_000);
      const { apiKey } = await stage.store.issueKey({ perMinute: 4, perDay: 10_000_000 });
      const asking = { callers: 1, apiKey: () => apiKey, call: ({ list }: Api) => list };
      const refused = await stage.burst({ ...asking, requests: 60 });
      const endsAtMs = Math.min(...refused.filter(isBanned).map(({ sentAtMs }) => sentAtMs)) + banMs;
      const endedAtMs = await Promise.all(
        services.map(async (service) => {
          for (;;) {
            const [answer] = await stage.burst({ ...asking, requests: 1 }, [service]);
            if (answer === undefined || !isBanned(answer) || nowMs() > endsAtMs + 2 * banMs) return nowMs();
            await sleep(50);
          }
        }),
      );
      const clocks = ["is right", "is 25 hours ahead", "is an hour behind"];
      return endedAtMs.map((atMs, index) =>
        atMost(1_000, `away from its end, where the clock ${clocks[index]}`, Math.abs(atMs - endsAtMs), "ms"),
      );
    },
  },
];

interface Rush {
  readonly accounts: number;
  readonly limit: number;
  readonly callers: number;
  /** Of each account. */
  readonly requests: number;
}

/** Limited by the day: no minute ends in the middle of it. */
async function checkAdmitted(stage: Stage, { accounts, limit, callers, requests }: Rush): Promise<Check[]> {
  const redis = stage.use(await openRedisServer());
  await stage.startServices([redis.url], patient, fourProcesses);
  const admitted: number[] = [];
  for (let account = 0; account < accounts; account += 1) {
    const load = await stage.load({ limits: { perMinute: 10_000_000, perDay: limit }, callers, requests, pauseMs: 0 });
    await load.done;
    admitted.push(load.exchanges.filter(isGood).length);
  }
  return [
    exactly(accounts, "accounts", admitted.length),
    exactly(limit, `admitted of ${requests}, the fewest`, Math.min(...admitted)),
    exactly(limit, `admitted of ${requests}, the most`, Math.max(...admitted)),
  ];
}

function isElsewhere({ sentAtMs, durationMs, rateLimit }: Exchange): boolean {
  const ends = [sentAtMs, sentAtMs + durationMs].map((atMs) => (Math.floor(atMs / 60_000) + 1) * 60_000);
  return !ends.includes(rateLimit?.resetAtMs ?? 0);
}
