import { describe, expect, it } from "vitest";
import { dayMs, minuteMs } from "../../../src/quota/window.js";
import { admitted, midnight, noon, openCounts, outcomes, shop, unsynced } from "./last-known-counts-fixture.js";

describe("the units that Redis is told after an outage", () => {
  it("are none before the first outage", () => {
    const { counts } = openCounts();
    counts.observe(shop, admitted(40));
    expect(counts.drainUnsynced("shop")).toBeUndefined();
    expect(counts.drainUnsynced("other")).toBeUndefined();
  });

  it("are the units granted without it, with its last known counters, once", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    outcomes(counts, 3);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 3));
    expect(counts.drainUnsynced("shop")).toBeUndefined();
  });

  it("are its last known counters for an account that spent nothing in the outage", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 0));
    expect(counts.drainUnsynced("shop")).toBeUndefined();
  });

  it("do not include units that it may have counted: these raise its last known counters", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    counts.decide(shop, true);
    counts.decide(shop, false);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(41, 1));
  });

  it("are not lowered by a late reply to an earlier call", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    counts.decide(shop, true);
    counts.observe(shop, admitted(40));
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(41, 0));
    counts.observe(shop, admitted(20));
    outages.count = 2;
    expect(counts.drainUnsynced("shop"), "Redis may also have refunded units").toEqual(unsynced(20, 0));
  });

  it("are told again when Redis rejects the call, and count as known when the reply is lost", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    outcomes(counts, 3);
    const first = counts.drainUnsynced("shop");
    if (first !== undefined) counts.restoreUnsynced("shop", first);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 3));
    outages.count = 2;
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(43, 0));
  });

  it("include a unit that is granted after they were sent, in the next call", () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    counts.drainUnsynced("shop");
    counts.decide(shop, false);
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 1));
  });

  it("lose a refunded unit that was granted without Redis, but none that Redis has counted", async () => {
    const { counts, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    const heldIn = counts.decide(shop, false);
    expect(await counts.refund({ ...shop, heldIn })).toMatchObject({ minute: { used: 50 } });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 0));
    outages.count = 2;
    await counts.refund({ ...shop, heldIn: admitted(40) });
    expect(counts.drainUnsynced("shop")).toEqual(unsynced(40, 0));
  });

  it("lose a refunded unit of an earlier minute only in the day", async () => {
    const { counts, clock, outages } = openCounts();
    outages.count = 1;
    const heldIn = counts.decide(shop, false);
    clock.nowMs = noon + minuteMs;
    outcomes(counts, 2);
    await counts.refund({ ...shop, heldIn });
    expect(counts.drainUnsynced("shop")).toEqual({
      minute: { resetAtMs: noon + 2 * minuteMs, lastKnownUsed: 0, unsyncedUnits: 2 },
      day: { resetAtMs: midnight + dayMs, lastKnownUsed: 0, unsyncedUnits: 2 },
    });
  });

  it("leave out a window that is over", () => {
    const { counts, clock, outages } = openCounts();
    counts.observe(shop, admitted(40));
    outages.count = 1;
    outcomes(counts, 3);
    clock.nowMs = noon + minuteMs;
    outcomes(counts, 2);
    expect(counts.drainUnsynced("shop")).toEqual({
      minute: { resetAtMs: noon + 2 * minuteMs, lastKnownUsed: 0, unsyncedUnits: 2 },
      day: { resetAtMs: midnight + dayMs, lastKnownUsed: 40, unsyncedUnits: 5 },
    });
  });
});
