/** The quota that any number of processes share. It uses the clock of Redis, never the clock of this machine. */
import { Cluster, type Redis } from "ioredis";
import { traceDatabaseCall } from "../../database-calls.js";
import { type BanPolicy, currentPenalty, defaultBanPolicy } from "../ban-policy.js";
import { bannedDecision, type Decision, refusingWindow } from "../decision.js";
import type { Ban, Penalties } from "../penalties.js";
import type { Limits } from "../plan.js";
import type { Quota, Reservation, Usage } from "../quota.js";
import { dayMs, minuteMs, type Windows } from "../window.js";
import { batchEqual } from "./batch-equal.js";
import { type AccountCounters, liftScript, readPenalty, reserveScript, unsyncedArguments } from "./reserve-script.js";

export interface RedisQuotaOptions {
  readonly redis: Redis | Cluster;
  readonly banPolicy?: BanPolicy;
  /** Replaces the clock of Redis in tests, in whole epoch milliseconds. */
  readonly now?: () => number;
}

/** Rejects if Redis sends no reply, an error or an unexpected reply. `unsynced`: units that Redis does not know yet. */
export interface RedisQuota extends Quota, Penalties {
  /** Decides equal reservations, one after another, in one script call. With `heldIn`, extends one unit. */
  decide(reservation: Reservation, times: number, unsynced?: AccountCounters, heldIn?: Windows): Promise<Decision[]>;
  usage(query: Parameters<Quota["usage"]>[0], unsynced?: AccountCounters): Promise<Usage>;
  refund(refund: Parameters<Quota["refund"]>[0], unsynced?: AccountCounters): Promise<Windows>;
}

const mode = "shared";
/** Begins every Redis key. Its version `2` changes only if an older release could not read the new values. */
const prefix = "petstore:quota:2:";
/** The keys of penalties. Those of the counters of accounts end with the brace. */
const penaltyKeys = `${prefix}{*}:*`;
const penaltyKey = /\{(.*)\}:(.*)$/;
/** How many Redis keys one SCAN looks at. Redis serves other calls between two of these steps of less than a millisecond. */
const scanStep = 1_000;

export function createRedisQuota(options: RedisQuotaOptions): RedisQuota {
  const { redis, banPolicy = defaultBanPolicy, now } = options;
  redis.defineCommand("petstoreReserve", { lua: reserveScript(banPolicy) });
  redis.defineCommand("petstoreLift", { lua: liftScript, numberOfKeys: 2 });
  const commands = redis as unknown as Commands;
  const time = now ?? (() => "");

  /** The script adds `unsynced`, gives units back, then reserves `cost`. A cost of 0 reserves nothing. `name` is for traces. */
  function callScript(
    name: "reserve" | "refund",
    { account, key: apiKey, limits, cost }: Reservation,
    { times = 1, unsynced, heldUnits = 1, heldIn }: ScriptOptions,
  ): Promise<Replies> {
    const redisKeys = keysOf(account, apiKey);
    return traceDatabaseCall("redis", name, () =>
      commands.petstoreReserve(
        redisKeys.length,
        ...redisKeys,
        time(),
        limits.perMinute,
        limits.perDay,
        cost,
        times,
        ...(heldIn ? [heldUnits, heldIn.minute.resetAtMs - minuteMs, heldIn.day.resetAtMs - dayMs] : [0, 0, 0]),
        ...(unsynced ? unsyncedArguments(unsynced) : []),
      ),
    );
  }

  const decide: RedisQuota["decide"] = async (reservation, times, unsynced, heldIn) => {
    const replies = await callScript("reserve", reservation, { times, unsynced, heldIn });
    return replies.map((reply) => toDecision(reply, reservation.limits, reservation.cost));
  };

  return {
    decide,
    reserve: batchEqual(decide),
    async extend({ heldIn, ...reservation }) {
      const [decision] = await decide(reservation, 1, undefined, heldIn);
      return decision as Decision;
    },
    async usage(query, unsynced) {
      const [reply] = await callScript("reserve", { ...query, cost: 0 }, { unsynced });
      const windows = toWindows(reply, query.limits);
      return reply[0] === "banned" ? { ...windows, bannedUntilMs: reply[6] } : windows;
    },
    async refund({ account, limits, cost, heldIn }, unsynced) {
      const [reply] = await callScript("refund", { account, limits, cost: 0 }, { unsynced, heldUnits: cost, heldIn });
      return toWindows(reply, limits);
    },
    async liftBan({ account, key: apiKey, liftedAgoMs }) {
      await traceDatabaseCall("redis", "lift ban", () =>
        commands.petstoreLift(...keysOf(account, apiKey), time(), liftedAgoMs),
      );
    },
    async penalties({ account, keys: apiKeys, limits }) {
      if (apiKeys.length === 0) return [];
      const redisKeys = apiKeys.map((apiKey) => `${countersKey(account)}:${apiKey}`);
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
      const servers = redis instanceof Cluster ? redis.nodes("master") : [redis];
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
    // A node of a cluster in this state has no connection yet.
    if (server.status === "wait") await server.connect();
    const banned = new Map<string, Ban>();
    let cursor = "0";
    do {
      const [next, redisKeys] = await server.scan(cursor, "MATCH", penaltyKeys, "COUNT", scanStep);
      cursor = next;
      const nowMs = await timeOf(server);
      // Not one MGET, because the keys are in several slots of a cluster.
      const stored = await Promise.all(redisKeys.map((redisKey) => server.get(redisKey)));
      for (const [index, redisKey] of redisKeys.entries()) {
        const [, account = "", key = ""] = penaltyKey.exec(redisKey) ?? [];
        const { bannedUntilMs, episodeStartMs } = readPenalty(stored[index] ?? "");
        const sinceMs = nowMs - episodeStartMs;
        if (bannedUntilMs > nowMs) banned.set(redisKey, { account, key, bannedUntilMs, sinceMs });
      }
    } while (cursor !== "0");
    return [...banned.values()];
  }
}

interface ScriptOptions {
  readonly times?: number;
  readonly unsynced: AccountCounters | undefined;
  readonly heldUnits?: number;
  readonly heldIn?: Windows | undefined;
}

/** The Redis keys of an account's counters and, with `apiKey`, of the penalty of that API key. */
function keysOf(account: string, apiKey: string | undefined): string[] {
  // The braces make Redis Cluster keep an account and its penalties on one node.
  const counters = countersKey(account);
  return apiKey === undefined ? [counters] : [counters, `${counters}:${apiKey}`];
}

function countersKey(account: string): string {
  return `${prefix}{${account}}`;
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
  petstoreReserve(...keysAndArguments: (string | number | undefined)[]): Promise<Replies>;
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
