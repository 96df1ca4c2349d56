import { describe, expect, it } from "vitest";
import { defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { QuotaMode } from "../../src/quota/decision.js";
import { createCaller, type OpenQuota } from "./caller.js";
import { describeBanThreshold } from "./describe-ban-threshold.js";
import { describeBans } from "./describe-bans.js";
import { describeExtensions } from "./describe-extensions.js";
import { describeRefunds } from "./describe-refunds.js";
import { describeStrikes } from "./describe-strikes.js";
import { describeWindows } from "./describe-windows.js";

const noon = Date.UTC(2031, 4, 14, 12);

/**
 * The promises of every engine, through its interface alone. `open` is called once in each test. It may return the same
 * store each time, because no two tests share an account. `mode` is the mode of its decisions.
 */
export function describeQuota(name: string, mode: QuotaMode, open: OpenQuota): void {
  describe(`${name} quota`, () => {
    it("carries the mode it was made in with every kind of decision", async () => {
      await using opened = await open({ ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0, graceMs: -1 });
      const caller = createCaller(opened, { perMinute: 4, perDay: 100 });
      const held = await caller.admit(noon);
      const extended = await caller.extend(noon, held, 4);
      const refused = await caller.reserve(noon);
      const banned = await caller.callUntilBanned(noon + 10_000);
      const impossible = await caller.sibling().reserve(noon, 5);
      const decisions = [held, extended, refused, banned, await caller.reserve(noon + 10_000), impossible];
      expect(decisions.map((decision) => [decision.outcome, decision.mode])).toEqual([
        ["admitted", mode],
        ["admitted", mode],
        ["refused", mode],
        ["banned", mode],
        ["banned", mode],
        ["impossible", mode],
      ]);
    });
    describeWindows(open);
    describeExtensions(open);
    describeRefunds(open);
    describeStrikes(open);
    describeBanThreshold(open);
    describeBans(open);
  });
}
