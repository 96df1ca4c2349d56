import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { createCaller, type OpenQuota } from "./caller.js";

const noon = Date.UTC(2031, 4, 14, 12);
const tomorrow = noon + dayMs / 2;
const start = noon + 5_000;
const hourMs = 3_600_000;
const limits = { perMinute: 4, perDay: 1_000 };
/** The second refusal bans, also one at the same instant as the first. */
const policy: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0, graceMs: -1 };

/** The length of bans and their effect. */
export function describeBans(open: OpenQuota): void {
  describe("bans", () => {
    it("a ban is 60 s: over at its end, not 1 ms before", async () => {
      for (const [offsetMs, outcome] of [
        [-1, "banned"],
        [0, "admitted"],
        [1, "admitted"],
      ] as const) {
        await using opened = await open(policy);
        const caller = createCaller(opened, limits);
        expect(await caller.callUntilBanned(start)).toMatchObject({
          outcome: "banned",
          bannedUntilMs: start + 60_000,
          retryAtMs: start + 60_000,
          nowMs: start,
          minute: { limit: 4, used: 4, resetAtMs: noon + minuteMs },
          day: { limit: 1_000, used: 4, resetAtMs: tomorrow },
        });
        expect(await caller.reserve(start + 60_000 + offsetMs), `${offsetMs} ms`).toMatchObject({ outcome });
      }
    });

    it("each further ban is twice as long, to an hour at most", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      let nowMs = start;
      const seconds: number[] = [];
      for (let ban = 0; ban < 8; ban += 1) {
        const { bannedUntilMs } = await caller.callUntilBanned(nowMs);
        seconds.push((bannedUntilMs - nowMs) / 1_000);
        nowMs = bannedUntilMs;
      }
      expect(seconds).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    });

    it("its level is forgotten 24 h after it ended", async () => {
      for (const [offsetMs, lengthMs] of [
        [-1, 120_000],
        [0, 60_000],
        [1, 60_000],
      ] as const) {
        await using opened = await open(policy);
        const caller = createCaller(opened, limits);
        const { bannedUntilMs } = await caller.callUntilBanned(start);
        const nowMs = bannedUntilMs + dayMs + offsetMs;
        const again = await caller.callUntilBanned(nowMs);
        expect(again.bannedUntilMs - nowMs, `${offsetMs} ms`).toBe(lengthMs);
      }
    });

    it("its level is remembered from the end of the last ban, not of the first", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const first = await caller.callUntilBanned(start);
      const second = await caller.callUntilBanned(first.bannedUntilMs + 23 * hourMs);
      const third = await caller.callUntilBanned(second.bannedUntilMs + 23 * hourMs);
      expect(third.bannedUntilMs - third.nowMs).toBe(240_000);
    });

    it("a ban clears the strikes that led to it", async () => {
      await using opened = await open({ ...policy, minimumStrikes: 3 });
      const caller = createCaller(opened, { perMinute: 4, perDay: 4 });
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      expect(await caller.outcomes(bannedUntilMs, 4)).toEqual([...Array(3).fill("refused"), "banned"]);
    });

    it("requests during a ban never lengthen it, and spend nothing", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      for (let second = 1; second < 60; second += 1) {
        for (let request = 0; request < 10; request += 1) {
          const decision = await caller.reserve(start + second * 1_000);
          expect(decision).toMatchObject({ outcome: "banned", bannedUntilMs, day: { used: 4 } });
        }
      }
      expect(await caller.outcomes(bannedUntilMs, 5)).toEqual([...Array(4).fill("admitted"), "refused"]);
    });

    it("a banned key's sibling key still works", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      await caller.callUntilBanned(start);
      expect(await caller.sibling().reserve(noon + minuteMs)).toMatchObject({ outcome: "admitted" });
      expect(await caller.withoutKey().reserve(noon + minuteMs)).toMatchObject({ outcome: "admitted" });
      expect(await caller.reserve(noon + minuteMs)).toMatchObject({ outcome: "banned", minute: { used: 2 } });
    });

    it("the same key name in another account is another key", async () => {
      await using opened = await open(policy);
      const sharing = () => createCaller(opened, limits, { account: randomUUID(), key: "shared" });
      await sharing().callUntilBanned(start);
      expect(await sharing().reserve(start)).toMatchObject({ outcome: "admitted" });
    });

    it("reports the end of a ban, also when the day is used up beyond it", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, { perMinute: 4, perDay: 6 });
      const bannedUntilMs = start + 60_000;
      await caller.reserve(noon - minuteMs, 1);
      expect(await caller.callUntilBanned(start)).toMatchObject({ bannedUntilMs, retryAtMs: bannedUntilMs });
      expect(await caller.reserve(start + 1, 1)).toMatchObject({ bannedUntilMs, retryAtMs: bannedUntilMs });
      expect(await caller.reserve(start + 1, 2)).toMatchObject({ bannedUntilMs, retryAtMs: tomorrow });
      expect(await caller.sibling().reserve(noon + minuteMs)).toMatchObject({ outcome: "admitted" });
      expect(await caller.reserve(noon + minuteMs)).toMatchObject({ bannedUntilMs, retryAtMs: tomorrow });
    });

    it("a ban shorter than the minute names the reset of the minute as the retry time", async () => {
      await using opened = await open({ ...policy, firstBanMs: 10_000 });
      const caller = createCaller(opened, limits);
      const banned = await caller.callUntilBanned(start);
      expect(banned).toMatchObject({ bannedUntilMs: start + 10_000, retryAtMs: noon + minuteMs });
      expect(await caller.reserve(banned.retryAtMs)).toMatchObject({ outcome: "admitted" });
    });

    it("a banned key is told of its ban before an impossible cost", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      expect(await caller.reserve(start, 5)).toMatchObject({ outcome: "banned", bannedUntilMs });
    });

    it("liftBan ends a ban at once and forgets its level, its strikes and nothing else", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const sibling = caller.sibling();
      await caller.callUntilBanned(start);
      await sibling.callUntilBanned(start);
      await caller.liftBan(start);
      expect(await caller.reserve(start)).toMatchObject({ outcome: "refused", minute: { used: 4 }, day: { used: 4 } });
      expect(await sibling.reserve(start)).toMatchObject({ outcome: "banned" });
      await caller.liftBan(start + 10_000);
      expect(await caller.reserve(start + 10_000), "a new episode").toMatchObject({ outcome: "refused" });
      const again = await caller.callUntilBanned(start + 10_000);
      expect(again.bannedUntilMs - again.nowMs).toBe(60_000);
    });

    it("liftBan of an unknown key changes nothing", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      await caller.liftBan(start);
      expect(await caller.reserve(start)).toMatchObject({ outcome: "admitted" });
    });

    it("reset forgets the usage and keeps the ban", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      await caller.reset(start);
      expect(await caller.reserve(start)).toMatchObject({ outcome: "banned", bannedUntilMs, day: { used: 0 } });
      const again = await caller.callUntilBanned(bannedUntilMs);
      expect(again.bannedUntilMs - again.nowMs).toBe(120_000);
    });

    it("usage reports the ban while it runs, and does not lengthen it", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      expect(await caller.usage(start)).not.toHaveProperty("bannedUntilMs");
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      expect(await caller.usage(start)).toMatchObject({ bannedUntilMs, minute: { used: 4 } });
      expect(await caller.usage(bannedUntilMs - 1)).toMatchObject({ bannedUntilMs });
      expect(await caller.usage(bannedUntilMs)).not.toHaveProperty("bannedUntilMs");
      expect(await caller.sibling().usage(start)).not.toHaveProperty("bannedUntilMs");
      expect(await caller.withoutKey().usage(start)).not.toHaveProperty("bannedUntilMs");
    });

    it("bans lists every ban of an account while it runs", async () => {
      await using opened = await open(policy);
      const caller = createCaller(opened, limits);
      const sibling = caller.sibling();
      expect(await caller.bans(start)).toEqual(new Map());
      const { bannedUntilMs } = await caller.callUntilBanned(start);
      const later = await sibling.callUntilBanned(start + 500);
      expect(await caller.bans(start + 500)).toEqual(
        new Map([
          [caller.key, bannedUntilMs],
          [sibling.key, later.bannedUntilMs],
        ]),
      );
      await sibling.liftBan(start + 500);
      expect(await caller.bans(bannedUntilMs - 1)).toEqual(new Map([[caller.key, bannedUntilMs]]));
      expect(await caller.bans(bannedUntilMs)).toEqual(new Map());
    });
  });
}
