import { describe, expect, it } from "vitest";
import type { KeyWithAccount } from "../access/key-repository.js";
import { createBanLifter } from "./ban-lifter.js";

const hourMs = 3_600_000;
/** By the clock of PostgreSQL, which the instance does not know. */
const liftedAtMs = Date.UTC(2030, 0, 1);

describe("a ban that an operator has lifted", () => {
  it("is lifted once, by the change event or by the row of the key", async () => {
    const { bans, lifted } = open(hourMs);
    await bans.lift("3", "7", liftedAtMs);
    await bans.liftIfRequested(row(1_000));
    await bans.lift("3", "7", liftedAtMs);
    expect(lifted).toEqual(["3 7"]);
    await bans.lift("3", "7", liftedAtMs + 1);
    expect(lifted).toHaveLength(2);
  });

  it.each([
    ["since the instance started", hourMs, 1],
    ["5 s before it started, when it may have replaced another instance", hourMs + 5_000, 1],
    ["longer before it started", hourMs + 5_001, 0],
  ])("is lifted as its key's row says when that was %s", async (_when, agoMs, times) => {
    const { bans, lifted } = open(hourMs);
    await bans.liftIfRequested(row(agoMs));
    expect(lifted).toHaveLength(times);
  });

  it("is tried again at the next look-up when it could not be lifted", async () => {
    const { bans, lifted, quota } = open(hourMs);
    quota.isUnavailable = true;
    await bans.lift("3", "7", liftedAtMs);
    await bans.liftIfRequested(row(1_000));
    expect(lifted).toEqual([]);
    quota.isUnavailable = false;
    await bans.liftIfRequested(row(2_000));
    expect(lifted).toEqual(["3 7"]);
  });
});

function row(banLiftedAgoMs: number): KeyWithAccount {
  const key = { id: 7n, accountId: 3n, createdAt: new Date(0), plan: "free", lineage: 7n } as const;
  return { ...key, scope: "both", isUsedToday: true, banLiftedAt: new Date(liftedAtMs), banLiftedAgoMs };
}

function open(uptimeMs: number) {
  const lifted: string[] = [];
  const quota = { isUnavailable: false };
  const liftBan = async ({ account, key }: { account: string; key: string }) => {
    if (quota.isUnavailable) throw new Error("Redis is unavailable");
    lifted.push(`${account} ${key}`);
  };
  const log = { info() {}, warn() {}, error() {} };
  return { bans: createBanLifter({ quota: { liftBan }, log, uptimeMs: () => uptimeMs }), lifted, quota };
}
