/**
 * The quota that any number of processes share: one script call for a decision, or for several equal ones, on the clock
 * of Redis and never on ours.
 */
import { Cluster, type Redis } from "ioredis";
import { type BanPolicy, defaultBanPolicy } from "../ban-policy.js";
import { banned, type Decision, refusingWindow } from "../decision.js";
import type { Limits } from "../plan.js";
import type { Quota, Reservation } from "../quota.js";
import { dayMs, minuteMs, type Windows } from "../window.js";
import { batchEqual } from "./batch-equal.js";
import { scanBans } from "./redis-bans.js";
import { outcomes, refundScript, reserveScript } from "./reserve-script.js";

export interface RedisQuotaOptions {
  readonly redis: Redis | Cluster;
  readonly banPolicy?: BanPolicy;
  /** Begins every key. Its version changes when the previous version could not read the stored values. */
  readonly prefix?: string;
  /** Replaces the clock of Redis in tests, in whole epoch milliseconds. */
  readonly now?: () => number;
}

/** Counts of an account that Redis may lack after an outage. */
export interface UnsyncedUnits {
  readonly minute: WindowCounter;
  readonly day: WindowCounter;
}

export interface WindowCounter {
  /** The end of the window, which identifies it. */
  readonly resetAtMs: number;
  /** The units that Redis must have counted at least. If it has counted fewer, it lost data. */
  readonly lastKnownUsed: number;
  /** Units granted without Redis, on top of those. */
  readonly unsyncedUnits: number;
}

/** Rejects with the errors of ioredis. */
export interface RedisQuota extends Quota {
  /**
   * Decides equal reservations, one after another, by one script call. First it counts the unsynced units, then it gives
   * the held unit back, because the unsynced units may contain it.
   */
  decide(reservation: Reservation, times: number, unsynced?: UnsyncedUnits, held?: Windows): Promise<Decision[]>;
}

const mode = "shared";

export function createRedisQuota(options: RedisQuotaOptions): RedisQuota {
  const { redis, banPolicy = defaultBanPolicy, prefix = "petstore:quota:2:", now } = options;
  redis.defineCommand("petstoreReserve", { lua: reserveScript(banPolicy) });
  redis.defineCommand("petstoreRefund", { lua: refundScript, numberOfKeys: 1 });
  const commands = redis as unknown as Commands;
  const time = now ?? (() => "");

  /** A cost of 0 only reads. */
  function callScript(
    { account, key, limits, cost }: Reservation,
    times: number,
    unsynced?: UnsyncedUnits,
    held?: Windows,
  ): Promise<Replies> {
    const keys = keysOf(account, key);
    corkUntilNextTick(redis);
    return commands.petstoreReserve(
      keys.length,
      ...keys,
      time(),
      limits.perMinute,
      limits.perDay,
      cost,
      times,
      ...(held ? [held.minute.resetAtMs - minuteMs, held.day.resetAtMs - dayMs] : ["", ""]),
      ...(unsynced ? [...scriptArguments(unsynced.minute, minuteMs), ...scriptArguments(unsynced.day, dayMs)] : []),
    );
  }

  const decide: RedisQuota["decide"] = async (reservation, ...how) => {
    const replies = await callScript(reservation, ...how);
    return replies.map((reply) => toDecision(reply, reservation.limits, reservation.cost));
  };

  return {
    decide,
    reserve: batchEqual(decide),
    async extend({ held, ...reservation }) {
      const [decision] = await decide(reservation, 1, undefined, held);
      return decision as Decision;
    },
    async usage(query) {
      const [reply] = await callScript({ ...query, cost: 0 }, 1);
      const windows = toWindows(reply, query.limits);
      return reply[0] === outcomes.banned ? { ...windows, bannedUntilMs: reply[6] } : windows;
    },
    async refund({ account, limits, cost, spentIn }) {
      const minuteStartMs = spentIn.minute.resetAtMs - minuteMs;
      const dayStartMs = spentIn.day.resetAtMs - dayMs;
      const [accountKey] = keysOf(account);
      return toWindows(await commands.petstoreRefund(accountKey, time(), cost, minuteStartMs, dayStartMs), limits);
    },
    async liftBan({ account, key }) {
      await redis.del(penaltiesOf(account, key));
    },
    bans: () => scanBans(redis, prefix, now),
    async reset({ account }) {
      await redis.del(accountKeyOf(account));
    },
  };

  function keysOf(account: string, key?: string): [account: string, penalties?: string] {
    return key === undefined ? [accountKeyOf(account)] : [accountKeyOf(account), penaltiesOf(account, key)];
  }

  // The braces make Redis Cluster keep an account and its penalties on one node.
  function accountKeyOf(account: string): string {
    return `${prefix}{${account}}`;
  }

  function penaltiesOf(account: string, key: string): string {
    return `${accountKeyOf(account)}:${key}`;
  }
}

type Reply = readonly [
  outcome: number,
  nowMs: number,
  minuteStartMs: number,
  minuteUsed: number,
  dayStartMs: number,
  dayUsed: number,
  bannedUntilMs: number,
];

type Replies = readonly [Reply, ...Reply[]];

/** The commands that `defineCommand` adds; ioredis does not type them. */
interface Commands {
  petstoreReserve(...keysAndArguments: (string | number | undefined)[]): Promise<Replies>;
  petstoreRefund(...keysAndArguments: (string | number)[]): Promise<Reply>;
}

function scriptArguments({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, lengthMs: number): number[] {
  return [resetAtMs - lengthMs, lastKnownUsed, unsyncedUnits];
}

/** Sends the commands of one tick in one write: several small writes to a socket cost more than the commands. */
function corkUntilNextTick(redis: Redis | Cluster): void {
  if (redis instanceof Cluster || !redis.stream?.writable || redis.stream.writableCorked > 0) return;
  const { stream } = redis;
  stream.cork();
  process.nextTick(() => stream.uncork());
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
  const [outcome, , , , , , bannedUntilMs] = reply;
  switch (outcome) {
    case outcomes.admitted:
      return { outcome: "admitted", mode, ...windows };
    case outcomes.banned:
      return banned(mode, windows, bannedUntilMs, cost);
    case outcomes.impossible:
      return { outcome: "impossible", mode, ...windows };
    case outcomes.refused: {
      const by = refusingWindow(windows, cost) ?? "minute";
      return { outcome: "refused", mode, ...windows, by, retryAtMs: windows[by].resetAtMs };
    }
    default:
      throw new Error(`the reserve script replied with an unknown outcome: ${outcome}`);
  }
}
