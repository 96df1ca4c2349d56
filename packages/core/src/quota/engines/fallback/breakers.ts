/** Finds the breaker of the shard that counts for an account, and keeps when the last outage of the account began. */
import type { Log } from "../../../log.js";
import type { Shard, Shards } from "../shards.js";
import { type Breaker, type BreakerOptions, createBreaker } from "./breaker.js";

export interface BreakersOptions extends Pick<BreakerOptions, "probe" | "deadlineMs"> {
  readonly shards: Shards;
  /** The clock of this machine, in whole epoch milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * The breakers of all shards (decision 0040). A request asks only the breaker of its account's shard, so an outage of one shard
 * does not concern the accounts of the others.
 *
 * An account has an *outage* from the moment when requests about it may be decided without Redis. It begins when the breaker of
 * its shard opens, when its slot moves to a shard whose breaker is open, and when a call about it fails.
 */
export interface Breakers extends Disposable {
  /** True while the breaker of the account's shard is closed. Opens it first if the connection is not ready. */
  canCall(account: string): boolean;
  /**
   * Calls Redis about an account. Ask `canCall` first. Rejects, and begins an outage of the account, if the call fails or misses
   * the deadline. Rejects too if an outage of the account began while the call was in flight, even if it is over.
   */
  run<Reply>(account: string, call: () => Promise<Reply>): Promise<Reply>;
  /**
   * The outage of the account that began last, even if it is over. Each beginning makes a new object, so comparing two of them
   * shows whether an outage began in between. At first, the start of the process stands for an outage.
   */
  lastOutageOf(account: string): Outage;
  /** The shards that have slots now. */
  states(): readonly ShardState[];
}

export interface Outage {
  /** On the clock of this machine. */
  readonly beganMs: number;
}

export interface ShardState {
  /** `undefined` for a single server, and while the slots of the cluster are not known. */
  readonly name: string | undefined;
  /** False while requests are decided without it. */
  readonly isShared: boolean;
  /** How often its breaker has opened. */
  readonly outages: number;
}

export function createBreakers({ shards, probe, deadlineMs, now, log }: BreakersOptions): Breakers {
  // Grows only when a master is added to the cluster, because a failover keeps the shard.
  const breakers = new Map<Shard, Breaker>();
  const start: Outage = { beganMs: now() };
  // The last outage of each slot, because an account goes from shard to shard with its slot.
  const lastOutages = new Array<Outage>(shards.slotCount).fill(start);

  function breakerOf(shard: Shard): Breaker {
    const known = breakers.get(shard);
    if (known !== undefined) return known;
    const onOpen = () => beginOutage(shard);
    const breaker = createBreaker({ shard, probe, deadlineMs, onOpen, log });
    breakers.set(shard, breaker);
    return breaker;
  }

  function beginOutage(shard: Shard): void {
    const outage: Outage = { beganMs: now() };
    for (let slot = 0; slot < shards.slotCount; slot += 1) {
      if (shards.shardOf(slot) === shard) lastOutages[slot] = outage;
    }
  }

  function beginOutageOf(slot: number): void {
    lastOutages[slot] = { beganMs: now() };
  }

  /** A breaker opens when its connection is lost, even if no request has asked for it. */
  function createAll(): void {
    for (const shard of shards.all()) breakerOf(shard);
  }

  createAll();
  shards.onMove((slots) => {
    createAll();
    for (const slot of slots) {
      if (!breakerOf(shards.shardOf(slot)).canCall()) beginOutageOf(slot);
    }
  });

  return {
    canCall: (account) => breakerOf(shards.shardOf(shards.slotOf(account))).canCall(),
    async run(account, call) {
      const slot = shards.slotOf(account);
      const outageBefore = lastOutages[slot];
      const reply = await breakerOf(shards.shardOf(slot))
        .run(account, call)
        .catch((error: unknown) => {
          // The slot has moved to another shard before the breaker opened.
          if (lastOutages[slot] === outageBefore) beginOutageOf(slot);
          throw error;
        });
      // In the outage, this instance may have granted units that the reply counts as unused. So the reply is not used.
      if (lastOutages[slot] !== outageBefore) throw new Error("an outage began before the reply");
      return reply;
    },
    lastOutageOf: (account) => lastOutages[shards.slotOf(account)] ?? start,
    states: () =>
      shards.all().map((shard) => {
        const breaker = breakerOf(shard);
        return { name: shard.name(), isShared: breaker.canCall(), outages: breaker.outages() };
      }),
    [Symbol.dispose]() {
      for (const breaker of breakers.values()) breaker[Symbol.dispose]();
    },
  };
}
