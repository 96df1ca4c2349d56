import { describe, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { createCaller, type OpenedQuota } from "./caller.js";
import { describeBans } from "./describe-bans.js";
import { describeWindows } from "./describe-windows.js";
import type { Rule } from "./rule.js";

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
