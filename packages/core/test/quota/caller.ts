import { randomUUID } from "node:crypto";
import type { BanPolicy } from "../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../src/quota/decision.js";
import type { Limits } from "../../src/quota/plan.js";
import type { Quota, Usage } from "../../src/quota/quota.js";
import type { Windows } from "../../src/quota/window.js";

/** An engine under test and the clock it decides by. */
export interface OpenedQuota extends AsyncDisposable {
  readonly quota: Quota;
  /** Epoch milliseconds, whole. The clock stands still between two calls and may be set back. */
  readonly setNow: (nowMs: number) => void;
}

export type OpenQuota = (banPolicy: BanPolicy) => Promise<OpenedQuota>;

/** Opens an engine that takes its time from the test. */
export function openAtVirtualTime(create: (options: { readonly now: () => number }) => Quota): OpenedQuota {
  let nowMs = 0;
  return {
    quota: create({ now: () => nowMs }),
    setNow: (toMs) => {
      nowMs = toMs;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** One API key of one account on one plan. Every instant is epoch milliseconds. */
export interface Caller {
  reserve(nowMs: number, cost?: number): Promise<Decision>;
  /** Rejects unless the units are granted. */
  admit(nowMs: number, cost?: number): Promise<Admitted>;
  /** Extends an admission of one unit to `cost` units. */
  extend(nowMs: number, heldIn: Admitted, cost: number): Promise<Decision>;
  /** The outcomes of that many requests of one unit, one after the other at one instant. */
  outcomes(nowMs: number, requests: number): Promise<Decision["outcome"][]>;
  /** Ignores every refusal until it is banned. */
  callUntilBanned(nowMs: number): Promise<Extract<Decision, { outcome: "banned" }>>;
  usage(nowMs: number): Promise<Usage>;
  refund(nowMs: number, cost: number, heldIn: Windows): Promise<Windows>;
  liftBan(nowMs: number): Promise<void>;
  /** The ends of the account's running bans, by key. */
  bans(nowMs: number): Promise<Map<string, number>>;
  readonly key: string | undefined;
  reset(nowMs: number): Promise<void>;
  /** Another key of the same account. */
  sibling(): Caller;
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
  const { quota, setNow } = opened;
  const who = key === undefined ? { account, limits } : { account, key, limits };

  function reserve(nowMs: number, cost = 1): Promise<Decision> {
    setNow(nowMs);
    return quota.reserve({ ...who, cost });
  }

  return {
    reserve,
    async admit(nowMs, cost) {
      const decision = await reserve(nowMs, cost);
      if (decision.outcome !== "admitted") throw new Error(`expected an admission, got ${decision.outcome}`);
      return decision;
    },
    extend(nowMs, heldIn, cost) {
      setNow(nowMs);
      return quota.extend({ ...who, cost, heldIn });
    },
    async outcomes(nowMs, requests) {
      const outcomes: Decision["outcome"][] = [];
      for (let request = 0; request < requests; request += 1) outcomes.push((await reserve(nowMs)).outcome);
      return outcomes;
    },
    async callUntilBanned(nowMs) {
      for (let request = 0; request < 5_000; request += 1) {
        const decision = await reserve(nowMs);
        if (decision.outcome === "banned") return decision;
      }
      throw new Error("5,000 requests at one instant were not banned");
    },
    usage(nowMs) {
      setNow(nowMs);
      return quota.usage(who);
    },
    refund(nowMs, cost, heldIn) {
      setNow(nowMs);
      return quota.refund({ account, limits, cost, heldIn });
    },
    liftBan(nowMs) {
      setNow(nowMs);
      return quota.liftBan({ account, key: key ?? "" });
    },
    async bans(nowMs) {
      setNow(nowMs);
      const own = (await quota.bans()).filter((ban) => ban.account === account);
      return new Map(own.map((ban) => [ban.key, ban.bannedUntilMs]));
    },
    key,
    reset(nowMs) {
      setNow(nowMs);
      return quota.reset({ account });
    },
    sibling: () => createCaller(opened, limits, { account, key: randomUUID() }),
    onPlan: (other) => createCaller(opened, other, key === undefined ? { account } : { account, key }),
    withoutKey: () => createCaller(opened, limits, { account }),
  };
}
