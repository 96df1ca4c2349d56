import { describe, expect, it } from "vitest";
import { defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";
import { createCaller, type OpenQuota } from "./caller.js";

const noon = Date.UTC(2031, 4, 14, 12);
const lastMinute = Date.UTC(2031, 4, 14, 23, 59);
const limits = { perMinute: 5, perDay: 8 };

/** Units of work that did not happen go back to the windows they were spent in. */
export function describeRefunds(open: OpenQuota): void {
  describe("refunds", () => {
    it("gives units back within the window they were spent in", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const admitted = await caller.reserve(noon, 5);
      expect(await caller.refund(noon + 1, 2, admitted)).toEqual({
        nowMs: noon + 1,
        minute: { limit: 5, used: 3, resetAtMs: noon + minuteMs },
        day: { limit: 8, used: 3, resetAtMs: noon + dayMs / 2 },
      });
      expect(await caller.reserve(noon + 1, 2)).toMatchObject({ outcome: "admitted" });
      expect(await caller.reserve(noon + 1)).toMatchObject({ outcome: "refused" });
    });

    it("never goes below zero", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const admitted = await caller.reserve(noon, 2);
      expect(await caller.refund(noon, 3, admitted)).toMatchObject({ minute: { used: 0 }, day: { used: 0 } });
      expect(await caller.reserve(noon, 5)).toMatchObject({
        outcome: "admitted",
        minute: { used: 5 },
        day: { used: 5 },
      });
      expect(await caller.reserve(noon)).toMatchObject({ outcome: "refused" });
    });

    it("never gives to a later minute; the day it was spent in gets it back", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const admitted = await caller.reserve(noon + minuteMs - 1, 2);
      await caller.reserve(noon + minuteMs, 4);
      expect(await caller.refund(noon + minuteMs, 2, admitted)).toMatchObject({
        minute: { used: 4 },
        day: { used: 4 },
      });
    });

    it("never gives to a later day", async () => {
      await using opened = await open(defaultBanPolicy);
      const caller = createCaller(opened, limits);
      const admitted = await caller.reserve(lastMinute, 2);
      await caller.reserve(lastMinute + minuteMs, 4);
      const windows = await caller.refund(lastMinute + minuteMs, 2, admitted);
      expect(windows).toMatchObject({ minute: { used: 4 }, day: { used: 4 } });
    });

    it("never creates an account", async () => {
      await using opened = await open(defaultBanPolicy);
      const admitted = await createCaller(opened, limits).reserve(noon, 2);
      const other = createCaller(opened, limits);
      expect(await other.refund(noon, 2, admitted)).toMatchObject({ minute: { used: 0 }, day: { used: 0 } });
      expect(await other.reserve(noon, 5)).toMatchObject({ outcome: "admitted", minute: { used: 5 } });
      expect(await other.reserve(noon)).toMatchObject({ outcome: "refused" });
    });
  });
}
