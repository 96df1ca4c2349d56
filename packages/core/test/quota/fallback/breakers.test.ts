import { afterEach, describe, expect, it } from "vitest";
import { type Breakers, createBreakers } from "../../../src/quota/engines/fallback/breakers.js";
import type { Shard } from "../../../src/quota/engines/shards.js";
import { silentLog } from "../../logs.js";

type ShardName = "one" | "two";

const slotCount = 4;

describe("the last outage of an account", () => {
  it("begins when the breaker of its shard opens, at the same time for all slots of the shard", async () => {
    const { breakers, clock, beginnings } = openBreakers();
    clock.nowMs = 10;
    await fail(breakers, "0");
    clock.nowMs = 20;
    expect(breakers.canCall("1")).toBe(false);
    expect(beginnings()).toEqual([10, 10, 0, 0]);
  });

  it("begins when its slot moves to a shard whose breaker is open, and not earlier", () => {
    const { breakers, clock, beginnings, lose, move } = openBreakers();
    clock.nowMs = 10;
    lose("two");
    clock.nowMs = 20;
    move(1, "two");
    expect(beginnings()).toEqual([0, 20, 10, 10]);
    expect([breakers.canCall("0"), breakers.canCall("1")]).toEqual([true, false]);
  });

  it("does not begin when its slot moves to a shard whose breaker is closed", () => {
    const { clock, beginnings, lose, move } = openBreakers();
    clock.nowMs = 10;
    lose("two");
    clock.nowMs = 20;
    move(2, "one");
    expect(beginnings()).toEqual([0, 0, 10, 10]);
  });

  it("is another one each time, even within a millisecond", () => {
    const { breakers, lose, move } = openBreakers();
    lose("one");
    const first = breakers.lastOutageOf("0");
    expect(breakers.lastOutageOf("0")).toBe(first);
    lose("two");
    move(0, "two");
    expect(breakers.lastOutageOf("0")).not.toBe(first);
    expect(breakers.lastOutageOf("0")).toEqual(first);
  });
});

let opened: Breakers | undefined;
afterEach(() => opened?.[Symbol.dispose]());

/** Two shards with two slots each. The name of an account is the number of its slot. */
function openBreakers() {
  const clock = { nowMs: 0 };
  const lossListeners: Record<ShardName, (() => void)[]> = { one: [], two: [] };
  const shardOf = (name: ShardName): Shard => ({
    name: () => name,
    address: () => undefined,
    isReady: () => true,
    onLoss: (listener) => void lossListeners[name].push(listener),
    connectError: () => undefined,
    connect() {},
    reconnect() {},
    accountToProbe: (account) => account,
  });
  const named = { one: shardOf("one"), two: shardOf("two") };
  const owners: ShardName[] = ["one", "one", "two", "two"];
  const moveListeners: ((slots: readonly number[]) => void)[] = [];
  const breakers = createBreakers({
    shards: {
      slotCount,
      slotOf: Number,
      shardOf: (slot) => named[owners[slot] ?? "one"],
      all: () => Object.values(named),
      onMove: (listener) => void moveListeners.push(listener),
    },
    probe: async () => {},
    deadlineMs: 60_000,
    now: () => clock.nowMs,
    log: silentLog,
  });
  opened = breakers;
  return {
    breakers,
    clock,
    beginnings: () => owners.map((_, slot) => breakers.lastOutageOf(`${slot}`).beganMs),
    lose(name: ShardName) {
      for (const listener of lossListeners[name]) listener();
    },
    move(slot: number, owner: ShardName) {
      owners[slot] = owner;
      for (const listener of moveListeners) listener([slot]);
    },
  };
}

async function fail(breakers: Breakers, account: string): Promise<void> {
  const call = breakers.run(account, () => Promise.reject(new Error("no reply")));
  await expect(call).rejects.toThrow("no reply");
}
