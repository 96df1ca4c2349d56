import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { limitsOf } from "../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { type Caller, createCaller, type OpenQuota } from "./caller.js";

const midnight = Date.UTC(2031, 4, 14);
const noon = midnight + dayMs / 2;
const reset = noon + minuteMs;
const free = limitsOf({ plan: "free" });
const limits = { perMinute: 4, perDay: 1_000 };
/** One strike bans a limit of 4 or less, so a ban tells a strike from a forgiven refusal. */
const oneStrike: BanPolicy = { ...defaultBanPolicy, strikes: 1 };
const twoStrikes: BanPolicy = { ...defaultBanPolicy, strikes: 2 };

/** Which refusals count against a key. A ban here only shows that one did. */
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
      "calls already under way are forgiven for 2 s: %i ms after the first is %s",
      async (afterMs, outcome) => {
        await using opened = await open(oneStrike);
        const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
        expect(await caller.reserve(noon + 10_000 + afterMs)).toMatchObject({ outcome });
      },
    );

    it("as many refusals are forgiven at once as the minute has units, and no more", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.outcomes(noon + 10_000, 5)).toEqual([...Array(4).fill("refused"), "banned"]);
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

    it("a forgiven early refusal is still one of those the minute forgives at once", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(reset - 1_002, createCaller(opened, limits));
      expect(await caller.outcomes(reset - 1_000, 10)).toEqual(Array(10).fill("refused"));
      expect(await caller.reserve(reset - 1_001)).toMatchObject({ outcome: "banned" });
    });

    it("strikes end with their episode, at the instant it was told to come back", async () => {
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

    it("what the last episode was forgiven, the new one is forgiven again", async () => {
      await using opened = await open(oneStrike);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.outcomes(noon + 10_000, 4)).toEqual(Array(4).fill("refused"));
      await refusedAt(reset, caller);
      expect(await caller.outcomes(reset, 4)).toEqual(Array(4).fill("refused"));
    });

    it("an episode ends when its first refusal was told to come back, not when a later one was", async () => {
      await using opened = await open(oneStrike);
      const caller = createCaller(opened, { perMinute: 4, perDay: 8 });
      await caller.reserve(noon - minuteMs, 3);
      await caller.reserve(noon + 10_000, 3);
      expect(await caller.reserve(noon + 10_000, 2)).toMatchObject({ outcome: "refused", by: "minute" });
      expect(await caller.reserve(noon + 10_000, 3)).toMatchObject({ outcome: "refused", by: "day" });
      expect(await caller.reserve(reset + 10_000, 3)).toMatchObject({ outcome: "refused", by: "day" });
    });

    it("an episode ends as soon as any of its refusals was told to come back", async () => {
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
      "who comes a little early for the minute is forgiven although the day refuses: %i ms before is %s",
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

    it("an episode of a used-up day lasts as long as the day", async () => {
      await using opened = await open({ ...defaultBanPolicy, strikes: 3 });
      const caller = createCaller(opened, { perMinute: 4, perDay: 4 });
      await caller.reserve(midnight, 4);
      const hours = [1, 2, 3, 4].map((hour) => midnight + (hour * dayMs) / 24);
      const outcomes: string[] = [];
      for (const hour of hours) outcomes.push((await caller.reserve(hour)).outcome);
      expect(outcomes).toEqual(["refused", "refused", "refused", "banned"]);
    });

    it("strikes count again under a clock that stepped back into their episode", async () => {
      await using opened = await open(twoStrikes);
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      await caller.reserve(noon + 20_000);
      await caller.reserve(reset, 4);
      await caller.sibling().reserve(reset);
      expect(await caller.reserve(reset - 2_000)).toMatchObject({ outcome: "banned" });
    });

    it("a request is one strike, whatever it costs", async () => {
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

    it.each([
      [1, 20],
      [60, 20],
      [80, 20],
      [81, 21],
      [300, 75],
      [1_000, 250],
    ])("max(20, ceil(minute limit / 4)) strikes ban: at %i a minute, %i", async (perMinute, strikes) => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, { perMinute, perDay: 100_000 });
      await caller.reserve(noon, perMinute);
      await caller.reserve(noon);
      const outcomes = await caller.outcomes(noon + 10_000, strikes);
      expect(outcomes).toEqual([...Array(strikes - 1).fill("refused"), "banned"]);
    });

    it("a tight loop on Free is banned at its 141st request", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, free);
      expect((await caller.outcomes(noon, 141)).indexOf("banned")).toBe(140);
    });

    it("0 strikes switches bans off", async () => {
      await using opened = await open({ ...defaultBanPolicy, strikes: 0 });
      const caller = await refusedAt(noon + 10_000, createCaller(opened, limits));
      expect(await caller.outcomes(noon + 20_000, 500)).toEqual(Array(500).fill("refused"));
    });
  });
}

/** Uses the minute up and takes the first refusal of an episode. */
async function refusedAt(nowMs: number, caller: Caller): Promise<Caller> {
  while ((await caller.reserve(nowMs)).outcome === "admitted");
  return caller;
}
