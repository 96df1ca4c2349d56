import { describe } from "vitest";
import type { OpenQuota } from "./caller.js";
import { describeBans } from "./describe-bans.js";
import { describeRefunds } from "./describe-refunds.js";
import { describeStrikes } from "./describe-strikes.js";
import { describeWindows } from "./describe-windows.js";

/**
 * What every engine promises, through its interface alone. `open` is called once a test; it may hand out the same
 * store each time, since no two tests share an account.
 */
export function describeQuota(name: string, open: OpenQuota): void {
  describe(`${name} quota`, () => {
    describeWindows(open);
    describeRefunds(open);
    describeStrikes(open);
    describeBans(open);
  });
}
