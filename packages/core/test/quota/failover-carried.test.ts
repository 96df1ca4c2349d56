import { describe, expect, it } from "vitest";
import { minuteMs } from "../../src/quota/window.js";
import { admitted, midnight, noon, openStandby, outcomes, shop } from "./standby-scene.js";

describe("what is carried back after an outage", () => {
  const carried = (floor: number, units: number) => ({
    minute: { startMs: noon, floor, units },
    day: { startMs: midnight, floor, units },
  });

  it("nothing before the first outage", () => {
    const { standby } = openStandby();
    standby.observe(shop, admitted(40));
    expect(standby.takeCarried("shop")).toBeUndefined();
    expect(standby.takeCarried("stranger")).toBeUndefined();
  });

  it("the units granted without Redis and what it had counted before, once", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    expect(standby.takeCarried("shop")).toEqual(carried(40, 3));
    expect(standby.takeCarried("shop")).toBeUndefined();
  });

  it("what Redis had counted, for an account that spent nothing in the outage", () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
    expect(standby.takeCarried("shop")).toBeUndefined();
  });

  it("units that Redis may have counted raise what it must have counted, and are not added", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await standby.reserve(shop, true);
    await standby.reserve(shop, false);
    expect(standby.takeCarried("shop")).toEqual(carried(41, 1));
  });

  it("not less than that because of a late answer to an earlier call", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await standby.reserve(shop, true);
    standby.observe(shop, admitted(40));
    expect(standby.takeCarried("shop")).toEqual(carried(41, 0));
    standby.observe(shop, admitted(20));
    outages.count = 2;
    expect(standby.takeCarried("shop"), "units may also be refunded").toEqual(carried(20, 0));
  });

  it("again, when the call that brought it was refused; as counted, when its answer was lost", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    const first = standby.takeCarried("shop");
    if (first !== undefined) standby.putBack("shop", first);
    expect(standby.takeCarried("shop")).toEqual(carried(40, 3));
    outages.count = 2;
    expect(standby.takeCarried("shop")).toEqual(carried(43, 0));
  });

  it("a unit granted at the moment the outage ends is carried by the next call", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    const late = standby.reserve(shop, false);
    standby.takeCarried("shop");
    await late;
    expect(standby.takeCarried("shop")).toEqual(carried(40, 1));
  });

  it("a refund takes back a unit granted without Redis, and none that Redis has counted", async () => {
    const { standby, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    const spentIn = await standby.reserve(shop, false);
    expect(await standby.refund({ ...shop, spentIn })).toMatchObject({ minute: { used: 50 } });
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
    outages.count = 2;
    await standby.refund({ ...shop, spentIn: admitted(40) });
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
  });

  it("no refund of an earlier minute in a later one; the day gets it", async () => {
    const { standby, clock, outages } = openStandby();
    outages.count = 1;
    const spentIn = await standby.reserve(shop, false);
    clock.nowMs = noon + minuteMs;
    await outcomes(standby, 2);
    await standby.refund({ ...shop, spentIn });
    expect(standby.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 0, units: 2 },
    });
  });

  it("of a window that is over, nothing", async () => {
    const { standby, clock, outages } = openStandby();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    clock.nowMs = noon + minuteMs;
    await outcomes(standby, 2);
    expect(standby.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 40, units: 5 },
    });
  });
});
