import { describe, expect, it } from "vitest";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import type { LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import { dayMs, minuteMs } from "../../../src/quota/window.js";
import { admitted, midnight, noon, openCounts, outcomes, shop, unsynced } from "./last-known-counts-fixture.js";

/** Redis has counted 40 of 60 units, the held one included. There are two instances, so this one may grant 10 more. */
const usedInRedis = 40;

describe("an extension while Redis is unavailable", () => {
  it("charges a unit that Redis has counted once", () => {
    const { counts, held } = openWithUnitHeldInRedis();
    expect(extend(counts, held, 11)).toMatchObject({ outcome: "admitted", mode: "fallback" });
    expect(outcomes(counts, 1)).toEqual(["refused"]);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis, 10));
  });

  it("refuses more than this instance's share, and gives the unit back here", () => {
    const { counts, held } = openWithUnitHeldInRedis();
    expect(extend(counts, held, 12)).toMatchObject({ outcome: "refused", by: "minute" });
    expect(outcomes(counts, 12)).toEqual([...Array(11).fill("admitted"), "refused"]);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis, 11));
  });

  it("takes back a held unit that was granted without Redis", () => {
    const { counts } = openWithUnitHeldInRedis();
    const held = admittedBy(counts);
    expect(extend(counts, held, 50)).toMatchObject({ outcome: "refused", by: "minute" });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis, 0));
  });

  it("tells Redis n units when the held unit was granted without it", () => {
    const { counts } = openWithUnitHeldInRedis();
    const held = admittedBy(counts);
    expect(extend(counts, held, 4)).toMatchObject({ outcome: "admitted" });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis, 4));
  });

  it("raises the last known counters when Redis may have executed it", () => {
    const { counts, held } = openWithUnitHeldInRedis();
    expect(counts.decide({ ...shop, cost: 4 }, true, held)).toMatchObject({ outcome: "admitted" });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis + 3, 0));
  });

  it("gives nothing back here when Redis may have done so itself", () => {
    const { counts, held } = openWithUnitHeldInRedis();
    outcomes(counts, 2);
    expect(counts.decide({ ...shop, cost: 12 }, true, held)).toMatchObject({ outcome: "refused" });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(usedInRedis, 2));
  });

  it("charges a new minute n units; the day counts the held unit", () => {
    const { counts, clock, held } = openWithUnitHeldInRedis();
    clock.nowMs = noon + minuteMs;
    expect(extend(counts, held, 5)).toMatchObject({ outcome: "admitted" });
    expect(counts.drainUnsynced("shop")).toEqual({
      minute: { resetAtMs: noon + 2 * minuteMs, lastKnownUsed: 0, unsyncedUnits: 5 },
      day: { resetAtMs: midnight + dayMs, lastKnownUsed: usedInRedis, unsyncedUnits: 4 },
    });
  });

  it("charges n units after a reset of the account", async () => {
    const { counts, held } = openWithUnitHeldInRedis();
    await counts.reset(shop);
    expect(extend(counts, held, 5)).toMatchObject({ outcome: "admitted" });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(0, 5));
  });
});

function openWithUnitHeldInRedis() {
  const fixture = openCounts();
  const held = admitted(usedInRedis);
  fixture.counts.observe(shop, held);
  fixture.outages.count = 1;
  return { ...fixture, held };
}

function extend(counts: LastKnownCounts, held: Admitted, cost: number): Decision {
  return counts.decide({ ...shop, cost }, false, held);
}

function admittedBy(counts: LastKnownCounts): Admitted {
  const decision = counts.decide(shop, false);
  if (decision.outcome !== "admitted") throw new Error(`expected an admission, got ${decision.outcome}`);
  return decision;
}
