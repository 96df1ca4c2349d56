import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { QuotaMode } from "../../src/quota/decision.js";
import type { Limits } from "../../src/quota/plan.js";
import { type Caller, createCaller, noon, type OpenQuota, oneStrike } from "./caller.js";
import { describeBans } from "./describe-bans.js";
import { describeExtensions } from "./describe-extensions.js";
import { describeStrikes } from "./describe-strikes.js";
import { describeWindows } from "./describe-windows.js";

/** Declares a test with a new account. The ban policy is the default one but for `policy`. */
export type Rule = (
  title: string,
  given: { readonly limits: Limits; readonly policy?: Partial<BanPolicy> },
  test: (caller: Caller) => Promise<void>,
) => void;

/**
 * The promises of every engine, through its interface alone. `open` is called once in each test. It may return the same
 * store each time, because no two tests share an account. `mode` is the mode of its decisions.
 */
export function describeQuota(name: string, mode: QuotaMode, open: OpenQuota): void {
  const rule: Rule = (title, { limits, policy }, test) => {
    it(title, async () => {
      await using opened = await open({ ...defaultBanPolicy, ...policy });
      await test(createCaller(opened, limits));
    });
  };

  describe(`${name} quota`, () => {
    const given = { limits: { perMinute: 4, perDay: 100 }, policy: oneStrike };
    rule("carries the mode it was made in with every kind of decision", given, async (caller) => {
      const held = await caller.admit(noon);
      const extended = await caller.extend(noon, held, 4);
      const refused = await caller.reserve(noon);
      const banned = await caller.callUntilBanned(noon + 10_000);
      const impossible = await caller.sibling().reserve(noon, 5);
      const made = [held, extended, refused, banned, impossible].map((decision) => [decision.outcome, decision.mode]);
      expect(made).toEqual(
        ["admitted", "admitted", "refused", "banned", "impossible"].map((outcome) => [outcome, mode]),
      );
    });
    describeWindows(rule);
    describeExtensions(rule);
    describeStrikes(rule);
    describeBans(rule);
  });
}
