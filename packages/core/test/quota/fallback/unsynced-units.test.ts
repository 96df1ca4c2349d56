import { describe, expect, it } from "vitest";
import type { LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import { minuteMs } from "../../../src/quota/window.js";
import { noon, tomorrow } from "../caller.js";
import { admitted, openInOutage, outcomes, shop } from "./last-known-counts-fixture.js";

// Redis has counted 40 of 60 units. There are two instances, so this one may grant 10 more.
const open = () => openInOutage({ known: 40 });

// random/outages.test.ts tests reservations.
describe("the units that Redis is told after an outage", () => {
  it("are none for an account that Redis has not reported, or before an outage", () => {
    const { counts } = open();
    expect(counts.drainUnsynced("other")).toBeUndefined();
    counts.observe({ ...shop, account: "new" }, admitted(1));
    expect(counts.drainUnsynced("new")).toBeUndefined();
  });

  it("do not include units that Redis may have counted: these raise its last known counters", () => {
    const { counts, outages } = open();
    counts.decide(shop, true);
    counts.decide(shop, false);
    expect(unsynced(counts)).toBe("41+1 a minute, 41+1 a day");
    counts.observe(shop, admitted(20));
    outages.count = 2;
    expect(unsynced(counts), "Redis may also have refunded units").toBe("20+0 a minute, 20+0 a day");
  });

  it("lose a refunded unit that was granted without Redis, but none that Redis has counted", async () => {
    const { counts, outages } = open();
    const heldIn = counts.decide(shop, false);
    expect(await counts.refund({ ...shop, heldIn })).toMatchObject({ minute: { used: 50 } });
    expect(unsynced(counts)).toBe("40+0 a minute, 40+0 a day");
    outages.count = 2;
    await counts.refund({ ...shop, heldIn: admitted(40) });
    expect(unsynced(counts)).toBe("40+0 a minute, 40+0 a day");
  });

  it("leave out a window that is over, and a unit refunded to it", async () => {
    const { counts, clock } = open();
    const heldIn = counts.decide(shop, false);
    outcomes(counts, 3);
    clock.nowMs = noon + minuteMs;
    outcomes(counts, 2);
    await counts.refund({ ...shop, heldIn });
    expect(unsynced(counts, noon + minuteMs)).toBe("0+2 a minute, 40+5 a day");
  });
});

describe("an extension while Redis is unavailable, told to Redis", () => {
  type Held = { readonly mayBeExecuted?: boolean; readonly isHeldHere?: boolean };
  it.each<[string, Held, cost: number, outcome: string, told: string]>([
    ["counts the unit that Redis has counted once", {}, 11, "admitted", "40+10"],
    ["is refused above this instance's share, without a change", {}, 12, "refused", "40+0"],
    ["raises the counters that Redis may have raised", { mayBeExecuted: true }, 4, "admitted", "43+0"],
    ["gives nothing back if Redis may have", { mayBeExecuted: true }, 12, "refused", "40+0"],
    ["counts a unit that was granted without Redis once", { isHeldHere: true }, 4, "admitted", "40+4"],
    ["gives such a unit back when it is refused", { isHeldHere: true }, 50, "refused", "40+0"],
  ])("%s", (_promise, { mayBeExecuted = false, isHeldHere = false }, cost, outcome, told) => {
    const { counts } = open();
    const held = isHeldHere ? counts.decide(shop, false) : admitted(40);
    if (held.outcome !== "admitted") throw new Error("this instance has no unit left");
    expect(counts.decide({ ...shop, cost }, mayBeExecuted, held)).toMatchObject({ outcome, mode: "fallback" });
    expect(unsynced(counts)).toBe(`${told} a minute, ${told} a day`);
  });

  it("charges a new minute n units, and both windows of an account that was forgotten", async () => {
    const { counts, clock } = openInOutage({ known: 40, capacity: 1 });
    clock.nowMs = noon + minuteMs;
    counts.decide({ ...shop, cost: 5 }, false, admitted(40));
    expect(unsynced(counts, noon + minuteMs)).toBe("0+5 a minute, 40+4 a day");
    counts.decide({ ...shop, account: "other" }, false);
    clock.nowMs = noon;
    counts.decide({ ...shop, cost: 5 }, false, admitted(40));
    expect(unsynced(counts)).toBe("0+5 a minute, 0+5 a day");
  });
});

/** The last known units and the unsynced units of the minute that begins at this instant, and of its day. */
function unsynced(counts: LastKnownCounts, minuteStartMs = noon): string {
  const told = counts.drainUnsynced("shop");
  if (told === undefined) return "none";
  expect([told.minute.resetAtMs, told.day.resetAtMs]).toEqual([minuteStartMs + minuteMs, tomorrow]);
  const [minute, day] = [told.minute, told.day].map(
    ({ lastKnownUsed, unsyncedUnits }) => `${lastKnownUsed}+${unsyncedUnits}`,
  );
  return `${minute} a minute, ${day} a day`;
}
