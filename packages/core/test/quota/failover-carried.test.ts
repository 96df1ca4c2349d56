import { describe, expect, it } from "vitest";
import { minuteMs } from "../../src/quota/window.js";
import { admitted, midnight, noon, openFallback, outcomes, shop } from "./fallback-fixture.js";

describe("what is carried back after an outage", () => {
  const carried = (floor: number, units: number) => ({
    minute: { startMs: noon, floor, units },
    day: { startMs: midnight, floor, units },
  });

  it("nothing before the first outage", () => {
    const { fallback } = openFallback();
    fallback.observe(shop, admitted(40));
    expect(fallback.takeCarried("shop")).toBeUndefined();
    expect(fallback.takeCarried("stranger")).toBeUndefined();
  });

  it("the units granted without Redis and what it had counted before, once", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(fallback, 3);
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 3));
    expect(fallback.takeCarried("shop")).toBeUndefined();
  });

  it("what Redis had counted, for an account that spent nothing in the outage", () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 0));
    expect(fallback.takeCarried("shop")).toBeUndefined();
  });

  it("units that Redis may have counted raise what it must have counted, and are not added", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    await fallback.reserve(shop, true);
    await fallback.reserve(shop, false);
    expect(fallback.takeCarried("shop")).toEqual(carried(41, 1));
  });

  it("not less than that because of a late answer to an earlier call", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    await fallback.reserve(shop, true);
    fallback.observe(shop, admitted(40));
    expect(fallback.takeCarried("shop")).toEqual(carried(41, 0));
    fallback.observe(shop, admitted(20));
    outages.count = 2;
    expect(fallback.takeCarried("shop"), "units may also be refunded").toEqual(carried(20, 0));
  });

  it("again, when the call that brought it was refused; as counted, when its answer was lost", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(fallback, 3);
    const first = fallback.takeCarried("shop");
    if (first !== undefined) fallback.putBack("shop", first);
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 3));
    outages.count = 2;
    expect(fallback.takeCarried("shop")).toEqual(carried(43, 0));
  });

  it("a unit granted at the moment the outage ends is carried by the next call", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    const late = fallback.reserve(shop, false);
    fallback.takeCarried("shop");
    await late;
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 1));
  });

  it("a refund takes back a unit granted without Redis, and none that Redis has counted", async () => {
    const { fallback, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    const spentIn = await fallback.reserve(shop, false);
    expect(await fallback.refund({ ...shop, spentIn })).toMatchObject({ minute: { used: 50 } });
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 0));
    outages.count = 2;
    await fallback.refund({ ...shop, spentIn: admitted(40) });
    expect(fallback.takeCarried("shop")).toEqual(carried(40, 0));
  });

  it("no refund of an earlier minute in a later one; the day gets it", async () => {
    const { fallback, clock, outages } = openFallback();
    outages.count = 1;
    const spentIn = await fallback.reserve(shop, false);
    clock.nowMs = noon + minuteMs;
    await outcomes(fallback, 2);
    await fallback.refund({ ...shop, spentIn });
    expect(fallback.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 0, units: 2 },
    });
  });

  it("of a window that is over, nothing", async () => {
    const { fallback, clock, outages } = openFallback();
    fallback.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(fallback, 3);
    clock.nowMs = noon + minuteMs;
    await outcomes(fallback, 2);
    expect(fallback.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 40, units: 5 },
    });
  });
});
