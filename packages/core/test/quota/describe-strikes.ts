import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { type Caller, createCaller, type OpenQuota } from "./caller.js";

const midnight = Date.UTC(2031, 4, 14);
const noon = midnight + dayMs / 2;
const reset = noon + minuteMs;
const limits = { perMinute: 4, perDay: 1_000 };
/** One strike bans, so a ban shows that a refusal was a strike. */
const oneStrike: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0 };
const twoStrikes: BanPolicy = { ...oneStrike, minimumStrikes: 2 };

/** The refusals that count against a key. A ban shows that one did. */
export function describeStrikes(open: OpenQuota): void {
  describe("strikes", () => {
    it("the first refusal of an episode is no strike", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, limits);
      for (const minute of [noon, noon + minuteMs, noon + 2 * minuteMs]) {
        await caller.reserve(minute, 4);
        expect(await caller.reserve(minute + 30_000)).toMatchObject({ outcome: "refused" });
      }
    });

    it.each([
      [1_999, "refused"],
      [2_000, "refused"],
      [2_001, "banned"],
    ] as const)(
      "calls already in flight are forgiven for 2 s: %i ms after the first is %s",
      async (afterMs, outcome) => {
        await using opened = await open(oneStrike);
        const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
        expect(await caller.reserve(noon + 10_000 + afterMs)).toMatchObject({ outcome });
      },
    );

    it("any number of calls already in flight is forgiven", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.outcomes(noon + 12_000, 500)).toEqual(Array(500).fill("refused"));
    });

    it.each([
      [1_001, "banned"],
      [1_000, "refused"],
      [999, "refused"],
    ] as const)(
      "clocks a little fast are forgiven for 1 s: %i ms before the reset is %s",
      async (beforeMs, outcome) => {
        await using opened = await open(oneStrike);
        const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
        expect(await caller.reserve(reset - beforeMs)).toMatchObject({ outcome });
      },
    );

    it("strikes end with their episode, at the retry time", async () => {
      for (const [offsetMs, outcome] of [
        [-1, "banned"],
        [0, "refused"],
        [1, "refused"],
      ] as const) {
        await using opened = await open({ ...twoStrikes, earlyMs: 0 });
        const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
        expect(await caller.reserve(noon + 20_000)).toMatchObject({ outcome: "refused" });
        const nowMs = reset + offsetMs;
        if (nowMs >= reset) await caller.reserve(nowMs, 4);
        expect(await caller.reserve(nowMs), `${offsetMs} ms`).toMatchObject({ outcome });
        if (outcome === "banned") continue;
        expect(await caller.reserve(nowMs + 10_000), "the new episode's first strike").toMatchObject({ outcome });
        expect(await caller.reserve(nowMs + 10_000), "its second").toMatchObject({ outcome: "banned" });
      }
    });

    it("forgives in each episode anew", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.outcomes(noon + 10_000, 4)).toEqual(Array(4).fill("refused"));
      await refusedAt(reset, caller);
      expect(await caller.outcomes(reset, 4)).toEqual(Array(4).fill("refused"));
    });

    it("an episode ends at the retry time of its first refusal, not of a later one", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, { perMinute: 4, perDay: 8 });
      await caller.reserve(noon - minuteMs, 3);
      await caller.reserve(noon + 10_000, 3);
      expect(await caller.reserve(noon + 10_000, 2)).toMatchObject({ outcome: "refused", by: "minute" });
      expect(await caller.reserve(noon + 10_000, 3)).toMatchObject({ outcome: "refused", by: "day" });
      expect(await caller.reserve(reset + 10_000, 3)).toMatchObject({ outcome: "refused", by: "day" });
    });

    it("an episode ends at the earliest retry time of its refusals", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, { perMinute: 4, perDay: 8 });
      await caller.reserve(noon - minuteMs, 3);
      await caller.reserve(noon + 10_000, 3);
      expect(await caller.reserve(noon + 10_000, 3)).toMatchObject({ outcome: "refused", by: "day" });
      expect(await caller.reserve(noon + 11_000, 2)).toMatchObject({ outcome: "refused", by: "minute" });
      expect(await caller.reserve(reset, 3)).toMatchObject({ outcome: "refused", by: "day" });
    });

    it.each([
      [1_001, "banned"],
      [1_000, "refused"],
    ] as const)(
      "a caller a little early for the minute is forgiven although the day refuses: %i ms before is %s",
      async (beforeMs, outcome) => {
        await using opened = await open(oneStrike);
        const caller = createCaller(opened, { perMinute: 4, perDay: 8 });
        await caller.reserve(noon - minuteMs, 3);
        await caller.reserve(noon + 10_000, 3);
        expect(await caller.reserve(noon + 10_000, 2)).toMatchObject({ outcome: "refused", by: "minute" });
        expect(await caller.reserve(reset - beforeMs, 3)).toMatchObject({ outcome });
      },
    );

    it("an admission does not end the episode", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon, 3);
      expect(await caller.reserve(noon + 10_000, 2)).toMatchObject({ outcome: "refused" });
      expect(await caller.reserve(noon + 11_000, 1)).toMatchObject({ outcome: "admitted" });
      expect(await caller.reserve(noon + 20_000, 1)).toMatchObject({ outcome: "banned" });
    });

    it.each([
      [59_999, "banned"],
      [60_000, "refused"],
    ] as const)(
      "an episode of a used-up day ends after 60 s: %i ms after its start is %s",
      async (afterMs, outcome) => {
        await using opened = await open(oneStrike);
        const caller = await refusedAt(midnight, createCaller(opened, { perMinute: 4, perDay: 4 }));
        expect(await caller.reserve(midnight + afterMs)).toMatchObject({ outcome });
      },
    );

    it("strikes count again under a clock that stepped back into their episode", async () => {
      await using opened = await open(twoStrikes);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      await caller.reserve(noon + 20_000);
      await caller.reserve(reset, 4);
      await caller.sibling().reserve(reset);
      expect(await caller.reserve(reset - 2_000)).toMatchObject({ outcome: "banned" });
    });

    it("a request is one strike at any cost", async () => {
      await using opened = await open(twoStrikes);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.reserve(noon + 20_000, 4)).toMatchObject({ outcome: "refused" });
      expect(await caller.reserve(noon + 20_000, 4)).toMatchObject({ outcome: "banned" });
    });

    it("a cost above the limit is impossible and no strike", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      for (let request = 0; request < 30; request += 1) {
        expect(await caller.reserve(noon + 20_000, 5)).toMatchObject({ outcome: "impossible" });
      }
      expect(await caller.usage(noon + 20_000)).not.toHaveProperty("bannedUntilMs");
      expect(await caller.outcomes(noon + 11_000, 4)).toEqual(Array(4).fill("refused"));
    });

    it("one key's strikes are not another's", async () => {
      await using opened = await open(twoStrikes);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      const sibling = await refusedAt(noon + 10_000, caller.sibling());
      for (const key of [caller, sibling]) {
        expect(await key.reserve(noon + 20_000)).toMatchObject({ outcome: "refused" });
      }
    });

    it("a caller without a key is refused for ever and never banned", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits).withoutKey());
      expect(await caller.outcomes(noon + 20_000, 100)).toEqual(Array(100).fill("refused"));
    });
  });
}

/** Uses the minute up and takes the first refusal of an episode. */
async function refusedAt(nowMs: number, caller: Caller): Promise<Caller> {
  while ((await caller.reserve(nowMs)).outcome === "admitted");
  return caller;
}
