/** The quota that any number of processes share. It uses the clock of Redis, never the clock of this machine. */
import { Cluster, type Redis } from "ioredis";
import { traceDatabaseCall } from "../../database-calls.js";
import { type BanPolicy, currentPenalty, defaultBanPolicy } from "../ban-policy.js";
import { bannedDecision, type Decision, refusingWindow } from "../decision.js";
import type { Ban, Penalties } from "../penalties.js";
import type { Limits } from "../plan.js";
import type { Quota, Reservation, Usage } from "../quota.js";
import { dayMs, minuteMs, type Windows } from "../window.js";
import type { AccountCounts } from "./account-counts.js";
import { batchEqual } from "./batch-equal.js";
import {
  liftArguments,
  liftScript,
  type ReserveCall,
  readPenalty,
  reserveArguments,
  reserveScript,
} from "./reserve-script.js";

export interface RedisQuotaOptions {
  readonly redis: Redis | Cluster;
  readonly banPolicy?: BanPolicy;
  /** Replaces the clock of Redis in tests, in whole epoch milliseconds. */
  readonly now?: () => number;
}

/**
 * Rejects if Redis sends no reply, an error or an unexpected reply. The script first takes in the report of an instance, if
 * there is one (`fallback/fallback-quota.ts`).
 */
export interface RedisQuota extends Quota, Penalties {
  /** Decides equal reservations, one after another, in one script call. */
  decide(reservation: Reservation, options: DecideOptions): Promise<Decision[]>;
  usage(query: Parameters<Quota["usage"]>[0], report?: AccountCounts): Promise<Usage>;
  refund(refund: Parameters<Quota["refund"]>[0], report?: AccountCounts): Promise<Windows>;
}

interface DecideOptions {
  /** The number of reservations. */
  readonly times: number;
  readonly report: AccountCounts | undefined;
  /** Extends the admission of one unit, instead of making a new reservation. `times` must then be 1. */
  readonly receipt: Windows | undefined;
}

const mode = "shared";
/** Begins every Redis key. Its version `2` changes only if an older release could not read the new values. */
const prefix = "petstore:quota:2:";
/** Matches the Redis keys of penalties. The Redis key of an account ends with the brace. */
const anyPenaltyKey = `${prefix}{*}:*`;
const accountAndKeyOfPenalty = /\{(.*)\}:(.*)$/;
/** How many Redis keys one SCAN looks at: about 0.3 ms. Redis serves other calls between two of these steps. */
const scanStep = 200;

export function createRedisQuota(options: RedisQuotaOptions): RedisQuota {
  const { redis, banPolicy = defaultBanPolicy, now } = options;
  redis.defineCommand("petstoreReserve", { lua: reserveScript(banPolicy) });
  redis.defineCommand("petstoreLift", { lua: liftScript, numberOfKeys: 2 });
  const commands = redis as unknown as Commands;

  /** `name` is for traces. */
  function callScript(
    name: "reserve" | "refund",
    redisKeys: readonly string[],
    call: Omit<ReserveCall, "nowMs">,
  ): Promise<Replies> {
    const scriptArguments = reserveArguments({ ...call, nowMs: now?.() });
    return traceDatabaseCall("redis", name, () =>
      commands.petstoreReserve(redisKeys.length, ...redisKeys, ...scriptArguments),
    );
  }

  const decide: RedisQuota["decide"] = async ({ account, key, limits, cost }, { times, report, receipt }) => {
    const held = receipt && { units: 1, windows: receipt };
    const replies = await callScript("reserve", keysOf(account, key), { limits, cost, times, held, report });
    return replies.map((reply) => toDecision(reply, limits, cost));
  };

  return {
    decide,
    reserve: batchEqual((reservation, times) => decide(reservation, { times, report: undefined, receipt: undefined })),
    async extend({ receipt, ...reservation }) {
      const [decision] = await decide(reservation, { times: 1, report: undefined, receipt });
      return decision as Decision;
    },
    async usage({ account, key, limits }, report) {
      const call = { limits, cost: 0, times: 1, held: undefined, report };
      const [reply] = await callScript("reserve", keysOf(account, key), call);
      const windows = toWindows(reply, limits);
      return reply[0] === "banned" ? { ...windows, bannedUntilMs: reply[6] } : windows;
    },
    async refund({ account, limits, cost: units, receipt }, report) {
      const call = { limits, cost: 0, times: 1, held: { units, windows: receipt }, report };
      const [reply] = await callScript("refund", keysOf(account, undefined), call);
      return toWindows(reply, limits);
    },
    async liftBan({ account, key: apiKey, liftedAgoMs }) {
      await traceDatabaseCall("redis", "lift ban", () =>
        commands.petstoreLift(...keysOf(account, apiKey), ...liftArguments({ nowMs: now?.(), liftedAgoMs })),
      );
    },
    async penalties({ account, keys: apiKeys, limits }) {
      if (apiKeys.length === 0) return [];
      const redisKeys = apiKeys.map((apiKey) => penaltyKeyOf(account, apiKey));
      const [stored, nowMs] = await traceDatabaseCall("redis", "read penalties", () =>
        Promise.all([redis.mget(redisKeys), timeOf(redis)]),
      );
      const current = { nowMs, minuteLimit: limits.perMinute };
      return apiKeys.flatMap((apiKey, index) => {
        const penalty = stored[index];
        return (penalty && currentPenalty(apiKey, readPenalty(penalty), current, banPolicy)) || [];
      });
    },
    async bans() {
      // The others have an outage.
      const servers = redis instanceof Cluster ? redis.nodes("master").filter(isConnected) : [redis];
      const found = await traceDatabaseCall("redis", "list bans", () => Promise.all(servers.map(bansOn)));
      return found.flat();
    },
  };

  async function timeOf(server: Redis | Cluster): Promise<number> {
    if (now !== undefined) return now();
    const [seconds, microseconds] = await server.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  }

  /** SCAN returns every key that is there from its start to its end, some of them twice. */
  async function bansOn(server: Redis): Promise<Ban[]> {
    const banned = new Map<string, Ban>();
    let cursor = "0";
    do {
      const [next, redisKeys] = await server.scan(cursor, "MATCH", anyPenaltyKey, "COUNT", scanStep);
      cursor = next;
      const nowMs = await timeOf(server);
      // Not one MGET, because the keys are in several slots of a cluster.
      const stored = await Promise.all(redisKeys.map((redisKey) => server.get(redisKey)));
      for (const [index, redisKey] of redisKeys.entries()) {
        const [, account = "", key = ""] = accountAndKeyOfPenalty.exec(redisKey) ?? [];
        const { bannedUntilMs, episodeStartMs } = readPenalty(stored[index] ?? "");
        const sinceMs = nowMs - episodeStartMs;
        if (bannedUntilMs > nowMs) banned.set(redisKey, { account, key, bannedUntilMs, sinceMs });
      }
    } while (cursor !== "0");
    return [...banned.values()];
  }
}

function isConnected({ status }: Redis): boolean {
  return status === "ready";
}

function keysOf(account: string, apiKey: string | undefined): string[] {
  const accountKey = accountKeyOf(account);
  return apiKey === undefined ? [accountKey] : [accountKey, penaltyKeyOf(account, apiKey)];
}

/** The braces make Redis Cluster keep an account and its penalties on one node. */
function accountKeyOf(account: string): string {
  return `${prefix}{${account}}`;
}

function penaltyKeyOf(account: string, apiKey: string): string {
  return `${prefix}{${account}}:${apiKey}`;
}

type Reply = readonly [
  outcome: Decision["outcome"] | "read",
  nowMs: number,
  minuteStartMs: number,
  minuteUsed: number,
  dayStartMs: number,
  dayUsed: number,
  /** The end of the last ban, which may be over. 0 without one. */
  bannedUntilMs: number,
  /** 1 if the reservation began the ban, else 0. */
  beginsBan: number,
];

type Replies = readonly [Reply, ...Reply[]];

/** The commands that `defineCommand` adds; ioredis does not type them. */
interface Commands {
  petstoreReserve(...keysAndArguments: (string | number)[]): Promise<Replies>;
  petstoreLift(...keysAndArguments: (string | number)[]): Promise<null>;
}

function toWindows([, nowMs, minuteStartMs, minuteUsed, dayStartMs, dayUsed]: Reply, limits: Limits): Windows {
  return {
    nowMs,
    minute: { limit: limits.perMinute, used: minuteUsed, resetAtMs: minuteStartMs + minuteMs },
    day: { limit: limits.perDay, used: dayUsed, resetAtMs: dayStartMs + dayMs },
  };
}

function toDecision(reply: Reply, limits: Limits, cost: number): Decision {
  const windows = toWindows(reply, limits);
  const [outcome, , , , , , bannedUntilMs, beginsBan] = reply;
  switch (outcome) {
    case "admitted":
    case "impossible":
      return { outcome, mode, ...windows };
    case "banned":
      return bannedDecision(mode, windows, { bannedUntilMs, beginsBan: beginsBan === 1 }, cost);
    case "refused": {
      // The script refuses only if a window has too few units left. The default only satisfies the type.
      const by = refusingWindow(windows, cost) ?? "minute";
      return { outcome: "refused", mode, ...windows, by, retryAtMs: windows[by].resetAtMs };
    }
    default:
      throw new Error(`the reserve script replied with an unexpected outcome: ${outcome}`);
  }
}
