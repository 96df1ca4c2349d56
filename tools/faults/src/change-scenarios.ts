import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openFaultProxy } from "@petstore/harness/fault-proxy";
import { openRedisServer } from "@petstore/harness/redis";
import { fourProcesses } from "./api.js";
import { nowMs } from "./ask.js";
import { patient } from "./environment.js";
import { type Exchange, endOf, isBanned } from "./exchange.js";
import { atLeast, atMost } from "./measure.js";
import { petstore } from "./petstore.js";
import type { Check, Scenario } from "./scenario.js";
import type { Load, Stage } from "./stage.js";

/** Bans as soon as a quarter of the minute's limit was refused. */
const quickBans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };
/** So few that a Business account has enough. */
const callers = 4;
const pauseMs = 60;

export const changeScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "changes",
    cause: "a key revoked, a plan changed, a ban lifted by the petstore command, under load on 2 REST and 2 GraphQL",
    expected: "true on every process within 1 s",
    needs: ["redis-server"],
    run: (stage) => checkChanges(stage, { isHeard: true, withinMs: 1_000 }),
  },
  {
    group: "postgres",
    name: "changes-unheard",
    cause: "the same, with every connection cut on which the processes listen for changes",
    expected: "true on every process within 5 s",
    needs: ["redis-server"],
    run: (stage) => checkChanges(stage, { isHeard: false, withinMs: 5_000 }),
  },
];

interface Change {
  readonly what: string;
  readonly limits: string;
  command(issued: Issued): string;
  /** Whether an answer is from before the change, and from after it. */
  isOld(exchange: Exchange): boolean;
  isNew(exchange: Exchange): boolean;
}

export interface Issued {
  readonly account: string;
  readonly apiKey: string;
  readonly id: string;
}

const isServed = ({ status }: Exchange) => status < 300;
const isRefused = ({ status }: Exchange) => status === 429;

const changes: readonly Change[] = [
  {
    what: "key revoked",
    limits: "--per-minute 1000000 --per-day 1000000",
    command: ({ id }) => `key revoke ${id}`,
    isOld: isServed,
    isNew: ({ code }) => code === "API_KEY_REVOKED",
  },
  {
    what: "plan changed",
    // A minute limit so high that the load is not banned.
    limits: "--per-minute 1000000 --per-day 1",
    command: ({ account }) => `account set-plan ${account} business`,
    isOld: ({ code }) => code === "DAILY_QUOTA_EXCEEDED",
    isNew: isServed,
  },
  {
    what: "ban lifted",
    limits: "--per-minute 1000 --per-day 1",
    command: ({ id }) => `ban lift ${id}`,
    isOld: isBanned,
    isNew: (exchange) => isRefused(exchange) && !isBanned(exchange),
  },
];

async function checkChanges(
  stage: Stage,
  { isHeard, withinMs }: { readonly isHeard: boolean; readonly withinMs: number },
): Promise<Check[]> {
  const redis = stage.use(await openRedisServer());
  const { databaseUrl } = stage.store;
  const proxy = stage.use(await openFaultProxy({ url: databaseUrl }));
  const settings = { ...patient, ...quickBans, DATABASE_DIRECT_URL: proxy.url };
  await stage.startServices([redis.url], settings, fourProcesses);
  const workplace = { databaseUrl, redisUrl: redis.url };
  const played = await Promise.all(
    changes.map(async (change) => {
      const issued = await issue(workplace, change.limits);
      const account = { apiKey: issued.apiKey, accountId: issued.account };
      return { change, issued, account };
    }),
  );
  for (const { change, issued } of played) {
    for (let rounds = 0; rounds < 20; rounds += 1) {
      const { apiKey } = issued;
      const answers = await stage.burst({
        requests: 1_000,
        callers: 32,
        apiKey: () => apiKey,
        call: ({ list }) => list,
      });
      if (answers.slice(-100).every(change.isOld)) break;
    }
  }
  if (!isHeard) await proxy.refuse();
  const loads = await Promise.all(played.map(({ account }) => stage.load({ limits, account, callers, pauseMs })));
  await sleep(1_000);
  const changedAtMs = await Promise.all(
    played.map(async ({ change, issued }) => {
      const printed = await petstore(workplace, `${change.command(issued)} --json`);
      return timeIn(printed) ?? nowMs();
    }),
  );
  await sleep(withinMs + 1_000);
  await Promise.all(loads.map((load) => load.stop()));
  return played.flatMap(({ change }, index) => checkChange(change, loads[index], changedAtMs[index] ?? 0, withinMs));
}

function checkChange({ what, isOld, isNew }: Change, load: Load | undefined, atMs: number, withinMs: number): Check[] {
  const exchanges = load?.exchanges ?? [];
  const ends = exchanges.filter((one) => one.sentAtMs > atMs && isOld(one)).map((one) => endOf(one) - atMs);
  return [
    atLeast(10, `${what}: answers before`, exchanges.filter((one) => one.sentAtMs < atMs && isOld(one)).length),
    atMost(withinMs, `${what}: last wrong answer after it`, Math.max(0, ...ends), "ms"),
    atLeast(10, `${what}: right answers since`, exchanges.filter((one) => one.sentAtMs > atMs && isNew(one)).length),
  ];
}

/** When the change was made, where the command tells; it ends a moment later. */
function timeIn(printed: readonly string[]): number | undefined {
  const told = JSON.parse(printed.join("")) as { readonly revokedAt?: string; readonly banLiftedAt?: string };
  const time = told.revokedAt ?? told.banLiftedAt;
  return time === undefined ? undefined : Date.parse(time);
}

/** What the account has is said by the command line; this is only what the load has to be told. */
const limits = { perMinute: 1, perDay: 1 };

export async function issue(workplace: Parameters<typeof petstore>[0], options: string): Promise<Issued> {
  const account = `changing-${randomBytes(4).toString("hex")}`;
  await petstore(workplace, `account create ${account} --plan enterprise ${options}`);
  const printed = await petstore(workplace, `key issue ${account} --json`);
  const { key, id } = JSON.parse(printed.join("")) as { readonly key: string; readonly id: string };
  return { account, apiKey: key, id };
}
