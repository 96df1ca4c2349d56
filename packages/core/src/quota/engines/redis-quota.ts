/**
 * The quota any number of processes share: one script call for a decision, or for several that are alike, on the clock of
 * Redis, never on ours.
 */
import { Cluster, type Redis } from "ioredis";
import { sendTogether } from "../../send-together.js";
import { type BanPolicy, defaultBanPolicy } from "../ban-policy.js";
import { banned, type Decision, refusingWindow } from "../decision.js";
import type { Limits } from "../plan.js";
import type { BanRecord, Extension, Quota, Reservation } from "../quota.js";
import { dayMs, minuteMs, type Windows } from "../window.js";
import { batchEqual } from "./batch-equal.js";
import { bannedUntilOf, outcomes, refundScript, reserveScript } from "./reserve-script.js";

export interface RedisQuotaOptions {
  readonly redis: Redis | Cluster;
  readonly banPolicy?: BanPolicy;
  /** Stands before every key. Its version changes when the previous version could not read what is stored. */
  readonly prefix?: string;
  /** Whole epoch milliseconds that replace the clock of Redis: for tests. */
  readonly now?: () => number;
}

/** What is known of an account that Redis may not know, after an outage. */
export interface Carried {
  readonly minute: CarriedWindow;
  readonly day: CarriedWindow;
}

export interface CarriedWindow {
  readonly startMs: number;
  /** What Redis itself had counted when it was last heard of: it has lost its memory if it counts less. */
  readonly floor: number;
  /** Units spent without it. */
  readonly units: number;
}

/** Rejects with what ioredis rejects with. */
export interface RedisQuota extends Quota {
  /** `carried` is counted before the first decision is made. */
  reserveTimes(reservation: Reservation, times: number, carried?: Carried): Promise<readonly Decision[]>;
  /** `carried` is counted before the held unit is given back, because it may contain that unit. */
  extend(extension: Extension, carried?: Carried): Promise<Decision>;
}

const mode = "shared";

export function createRedisQuota(options: RedisQuotaOptions): RedisQuota {
  const { redis, banPolicy = defaultBanPolicy, prefix = "petstore:quota:2:", now } = options;
  redis.defineCommand("petstoreReserve", { lua: reserveScript(banPolicy) });
  redis.defineCommand("petstoreRefund", { lua: refundScript, numberOfKeys: 1 });
  const commands = redis as unknown as Commands;
  const time = now ?? (() => "");

  /** A cost of 0 only looks. `held` is the admission of a unit to give back first. */
  async function ask(reservation: Reservation, times: number, carried?: Carried, held?: Windows): Promise<Replies> {
    const { account, key, limits, cost } = reservation;
    const keys = keysOf(account, key);
    if (!(redis instanceof Cluster) && redis.stream?.writable) sendTogether(redis.stream);
    return commands.petstoreReserve(
      keys.length,
      ...keys,
      time(),
      limits.perMinute,
      limits.perDay,
      cost,
      times,
      ...(held ? [held.minute.resetAtMs - minuteMs, held.day.resetAtMs - dayMs] : ["", ""]),
      ...(carried ? [...carriedArguments(carried.minute), ...carriedArguments(carried.day)] : []),
    );
  }

  async function reserveTimes(reservation: Reservation, times: number, carried?: Carried): Promise<Decision[]> {
    const replies = await ask(reservation, times, carried);
    return replies.map((reply) => toDecision(reply, reservation.limits, reservation.cost));
  }

  return {
    reserveTimes,
    reserve: batchEqual(reserveTimes),
    async extend({ held, ...reservation }, carried) {
      const [reply] = await ask(reservation, 1, carried, held);
      return toDecision(reply, reservation.limits, reservation.cost);
    },
    async usage(query) {
      const [reply] = await ask({ ...query, cost: 0 }, 1);
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
    async bans() {
      const servers = redis instanceof Cluster ? redis.nodes("master") : [redis];
      const nowMs = now?.() ?? (await timeOf(redis));
      return (await Promise.all(servers.map((server) => bansOn(server, prefix, nowMs)))).flat();
    },
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

/** Walks over every key of a server, a thousand at a time, which holds nobody up for long. */
async function bansOn(server: Redis, prefix: string, nowMs: number): Promise<BanRecord[]> {
  // The walk may come by a key twice.
  const bans = new Map<string, BanRecord>();
  let cursor = "0";
  do {
    const [next, found] = await server.scan(cursor, "MATCH", `${prefix}{*}:*`, "COUNT", 1_000);
    cursor = next;
    const values = await Promise.all(found.map((key) => server.get(key)));
    for (const [index, penaltiesKey] of found.entries()) {
      const [account = "", key = ""] = penaltiesKey.slice(prefix.length + 1).split("}:");
      const bannedUntilMs = bannedUntilOf(values[index] ?? "");
      if (bannedUntilMs > nowMs) bans.set(penaltiesKey, { account, key, bannedUntilMs });
    }
  } while (cursor !== "0");
  return [...bans.values()];
}

async function timeOf(redis: Redis | Cluster): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
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

/** What `defineCommand` adds to a connection; ioredis leaves its type to us. */
interface Commands {
  petstoreReserve(...keysAndArguments: (string | number | undefined)[]): Promise<Replies>;
  petstoreRefund(...keysAndArguments: (string | number)[]): Promise<Reply>;
}

function carriedArguments({ startMs, floor, units }: CarriedWindow): number[] {
  return [startMs, floor, units];
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
      throw new Error("the reserve script answered something it does not know");
  }
}
