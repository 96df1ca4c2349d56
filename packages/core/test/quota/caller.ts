import { randomUUID } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import { expect } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../src/quota/decision.js";
import { createLocalQuota, type LocalQuotaOptions } from "../../src/quota/engines/local-quota.js";
import { createRedisQuota } from "../../src/quota/engines/redis-quota.js";
import type { Ban, KeyPenalty, Penalties } from "../../src/quota/penalties.js";
import type { Limits } from "../../src/quota/plan.js";
import type { Quota, Usage } from "../../src/quota/quota.js";
import { dayMs, type Windows } from "../../src/quota/window.js";

export const midnight: number = Date.UTC(2031, 4, 14);
export const noon: number = midnight + dayMs / 2;
export const tomorrow: number = midnight + dayMs;

/** The second refusal bans, also one at the same instant as the first. */
export const oneStrike: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0, graceMs: -1 };

/** An engine under test and the clock it decides by. */
export interface OpenedQuota {
  readonly quota: Quota & Penalties;
  /** Epoch milliseconds, whole. The clock stands still between two calls and may be set back. */
  readonly setNow: (nowMs: number) => void;
}

/** Opens an engine that takes its time from the test. */
export function openAtVirtualTime(create: (options: { readonly now: () => number }) => Quota & Penalties): OpenedQuota {
  let nowMs = 0;
  return {
    quota: create({ now: () => nowMs }),
    setNow: (toMs) => {
      nowMs = toMs;
    },
  };
}

export function openLocal(options: Omit<LocalQuotaOptions, "now">): OpenedQuota {
  return openAtVirtualTime(({ now }) => createLocalQuota({ ...options, now }));
}

export function openOnRedis(redis: Redis | Cluster, banPolicy: BanPolicy): OpenedQuota {
  return openAtVirtualTime(({ now }) => createRedisQuota({ redis, banPolicy, now }));
}

/** One API key of one account on one plan. Every instant is epoch milliseconds. */
export interface Caller {
  reserve(nowMs: number, cost?: number): Promise<Decision>;
  /** Rejects unless the units are granted. */
  admit(nowMs: number, cost?: number): Promise<Admitted>;
  /** Extends an admission of one unit to `cost` units. */
  extend(nowMs: number, receipt: Admitted, cost: number): Promise<Decision>;
  /** The outcomes of that many requests of one unit, all at once. */
  outcomes(nowMs: number, requests: number): Promise<Decision["outcome"][]>;
  /** Ignores every refusal until it is banned. */
  callUntilBanned(nowMs: number): Promise<Extract<Decision, { outcome: "banned" }>>;
  usage(nowMs: number): Promise<Usage>;
  refund(nowMs: number, cost: number, receipt: Windows): Promise<Windows>;
  readonly account: string;
  readonly key: string;
  /** Those of this key and of other keys of the account. */
  penalties(nowMs: number, ...others: readonly Caller[]): Promise<readonly KeyPenalty[]>;
  /** The bans of this account. */
  bans(nowMs: number): Promise<Ban[]>;
  liftBan(nowMs: number, liftedAgoMs?: number): Promise<void>;
  /** Another key of the same account. */
  sibling(): Caller;
  /** A key of another account on the same plan. */
  otherAccount(): Caller;
  /** The same key of the same account. */
  onPlan(limits: Limits): Caller;
  /** The same account for requests that nobody is banned for. */
  withoutKey(): Caller;
}

/** A caller with an account of its own: engines that share a store meet no state of another test. */
export function createCaller(
  opened: OpenedQuota,
  limits: Limits,
  { account, key }: { readonly account: string; readonly key?: string } = { account: randomUUID(), key: randomUUID() },
): Caller {
  const who = key === undefined ? { account, limits } : { account, key, limits };
  const at = (nowMs: number): Quota & Penalties => {
    opened.setNow(nowMs);
    return opened.quota;
  };
  const reserve = (nowMs: number, cost = 1) => at(nowMs).reserve({ ...who, cost });

  return {
    account,
    key: key ?? "",
    reserve,
    async admit(nowMs, cost) {
      const decision = await reserve(nowMs, cost);
      if (decision.outcome !== "admitted") throw new Error(`expected an admission, got ${decision.outcome}`);
      return decision;
    },
    extend: (nowMs, receipt, cost) => at(nowMs).extend({ ...who, cost, receipt }),
    async outcomes(nowMs, requests) {
      const decisions = await Promise.all(Array.from({ length: requests }, () => reserve(nowMs)));
      return decisions.map(({ outcome }) => outcome);
    },
    async callUntilBanned(nowMs) {
      for (let request = 0; request < 5_000; request += 1) {
        const decision = await reserve(nowMs);
        if (decision.outcome === "banned") return decision;
      }
      throw new Error("5,000 requests at one instant were not banned");
    },
    usage: (nowMs) => at(nowMs).usage(who),
    refund: (nowMs, cost, receipt) => at(nowMs).refund({ account, limits, cost, receipt }),
    liftBan: (nowMs, liftedAgoMs = 0) => at(nowMs).liftBan({ account, key: key ?? "", liftedAgoMs }),
    penalties: (nowMs, ...others) =>
      at(nowMs).penalties({ account, limits, keys: [key ?? "", ...others.map((other) => other.key)] }),
    bans: async (nowMs) => (await at(nowMs).bans()).filter((ban) => ban.account === account),
    sibling: () => createCaller(opened, limits, { account, key: randomUUID() }),
    otherAccount: () => createCaller(opened, limits),
    onPlan: (other) => createCaller(opened, other, key === undefined ? { account } : { account, key }),
    withoutKey: () => createCaller(opened, limits, { account }),
  };
}

/** The outcome, and the used units of the minute and of the day: `refused 3/8`. */
export function brief({ outcome, minute, day }: Decision): string {
  return `${outcome} ${minute.used}/${day.used}`;
}

/** Makes reservations one after the other. Each row has its instant, its cost, and its outcome, with or without the used units. */
export async function expectReplies(
  caller: Caller,
  ...rows: readonly (readonly [nowMs: number, cost: number, reply: string])[]
): Promise<void> {
  for (const [index, [nowMs, cost, reply]] of rows.entries()) {
    const decision = await caller.reserve(nowMs, cost);
    expect(reply.includes(" ") ? brief(decision) : decision.outcome, `reservation ${index + 1}`).toBe(reply);
  }
}
