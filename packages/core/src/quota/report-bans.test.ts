import { expect, it } from "vitest";
import { defaultBanPolicy } from "./ban-policy.js";
import type { Admitted } from "./decision.js";
import { createLocalQuota } from "./engines/local-quota.js";
import { reportBans } from "./report-bans.js";

/** The second refusal of a key bans it, for a minute. */
const banPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0, graceMs: -1 };
const shop = { account: "7", key: "12", limits: { perMinute: 2, perDay: 100 }, cost: 1 };

it.each(["reserve", "extend"] as const)("logs and counts a ban that %s begins, once", async (call) => {
  const logged: unknown[] = [];
  const log = { info() {}, warn: (...line: unknown[]) => void logged.push(line), error() {} };
  const quota = reportBans(createLocalQuota({ now: () => Date.UTC(2031, 4, 14, 12), banPolicy }), log);
  const receipt = (await quota.reserve(shop)) as Admitted;
  await quota.reserve(shop);
  const refuse = async () => (await quota[call]({ ...shop, cost: 2, receipt })).outcome;
  expect([await refuse(), await refuse(), await refuse()]).toEqual(["refused", "banned", "banned"]);
  const message = "banned a key that continued to call after 429";
  expect(logged).toEqual([[{ account: "7", key: "12", bannedUntil: "2031-05-14T12:01:00.000Z" }, message]]);
  expect(quota.bansBegun()).toBe(1);
});
