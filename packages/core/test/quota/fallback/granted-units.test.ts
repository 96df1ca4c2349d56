import { describe, expect, it } from "vitest";
import type { Limits } from "../../../src/quota/plan.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { minuteMs } from "../../../src/quota/window.js";
import { admitted, type CountsFixture, noon, openCounts, outcomes, shop } from "./last-known-counts-fixture.js";

const limit = 60;

describe.each([2, 4])("%i instances while Redis is unavailable", (instances) => {
  it("grant exactly the limit together after even load", () => {
    const opened = openInstances(instances);
    for (const { counts } of opened) counts.observe(shop, admitted(20));
    expect(20 + grantedBy(opened)).toBe(limit);
  });

  it("grant at most limit x (2 - 1 / instances) in the minute of the failure when one had all the load", () => {
    const opened = openInstances(instances);
    opened[0]?.counts.observe(shop, admitted(limit));
    expect(limit + grantedBy(opened)).toBe(limit * (2 - 1 / instances));
  });

  it("grant less than that when the others have seen one request of the account", () => {
    const opened = openInstances(instances);
    for (const [index, { counts }] of opened.entries()) counts.observe(shop, admitted(index === 0 ? limit : 1));
    const granted = limit + grantedBy(opened);
    expect(granted).toBeGreaterThan(limit);
    expect(granted).toBeLessThan(limit * (2 - 1 / instances));
  });

  it("grant at most the limit in the next minute", () => {
    const opened = openInstances(instances);
    opened[0]?.counts.observe(shop, admitted(limit));
    grantedBy(opened);
    for (const { clock } of opened) clock.nowMs = noon + minuteMs;
    expect(grantedBy(opened)).toBe(limit);
  });

  it("grant a limit below their number once each", () => {
    const opened = openInstances(instances);
    expect(grantedBy(opened, { perMinute: instances - 1, perDay: 1_000 })).toBe(instances);
  });
});

function openInstances(instances: number): CountsFixture[] {
  return Array.from({ length: instances }, () => {
    const fixture = openCounts({ instances });
    fixture.outages.count = 1;
    return fixture;
  });
}

/** The units that all instances together grant to as many requests as each of them can get. */
function grantedBy(opened: readonly CountsFixture[], limits: Limits = shop.limits): number {
  const reservation: Reservation = { ...shop, limits };
  const decided = opened.map(({ counts }) => outcomes(counts, 2 * limit, reservation));
  return decided.flat().filter((outcome) => outcome === "admitted").length;
}
