import { describe, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { Limits } from "../../src/quota/plan.js";
import { type Caller, createCaller, type OpenedQuota } from "./caller.js";
import { describeBans } from "./describe-bans.js";
import { describeWindows } from "./describe-windows.js";

/** Declares a test with a new account. The ban policy is the default one but for `policy`. */
export type Rule = (
  title: string,
  given: { readonly limits: Limits; readonly policy?: Partial<BanPolicy> },
  test: (caller: Caller) => Promise<void>,
) => void;

/**
 * The promises of every engine, through its interface alone. `open` is called once in each test. It may return the same
 * store each time, because no two tests share an account.
 */
export function describeQuota(name: string, open: (banPolicy: BanPolicy) => OpenedQuota): void {
  const rule: Rule = (title, { limits, policy }, test) => {
    it(title, async () => {
      const opened = open({ ...defaultBanPolicy, ...policy });
      await test(createCaller(opened, limits));
    });
  };

  describe(`${name} quota`, () => {
    describeWindows(rule);
    describeBans(rule);
  });
}
