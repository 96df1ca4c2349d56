import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLots, shareOfLimit, shareOfRest } from "./share.js";

const instances = fc.integer({ min: 1, max: 400 });
const limit = fc.integer({ min: 1, max: 1_000_000 });
const noLot = () => expect.unreachable("a lot was drawn");

describe("the share of an instance", () => {
  it("serves a client at a steady rate as before, if one instance serves it", () => {
    // In the last full minute it used `ownUnits`. In the present one it has not used more yet.
    const promise = fc.property(instances, limit, fc.nat(), fc.nat(), (instances, limit, own, present) => {
      const ownUnits = 1 + (own % limit);
      const used = present % (ownUnits + 1);
      const division = { instances, limit, ownUnits };
      expect(used + shareOfRest(division, used)).toBeGreaterThanOrEqual(ownUnits);
      expect(shareOfLimit(division, noLot)).toBeGreaterThanOrEqual(ownUnits);
    });
    fc.assert(promise);
  });

  it("is the n-th part without own units, rounded down", () => {
    const promise = fc.property(instances, limit, fc.nat(), (instances, limit, used) => {
      const division = { instances, limit, ownUnits: 0 };
      const known = used % (limit + 1);
      expect(shareOfRest(division, known)).toBe(Math.floor((limit - known) / instances));
      fc.pre(limit >= instances);
      expect(shareOfLimit(division, noLot)).toBe(Math.floor(limit / instances));
    });
    fc.assert(promise);
  });

  it("is never more than the limit, or than what Redis has left", () => {
    const promise = fc.property(instances, limit, fc.nat(), fc.nat(), (instances, limit, ownUnits, used) => {
      const known = used % (limit + 1);
      expect(shareOfRest({ instances, limit, ownUnits }, known)).toBeLessThanOrEqual(limit - known);
      expect(shareOfLimit({ instances, limit, ownUnits }, () => 0)).toBeLessThanOrEqual(limit);
    });
    fc.assert(promise);
  });

  it("grants nothing if Redis counts more than a lowered limit", () => {
    expect(shareOfRest({ instances: 3, limit: 10, ownUnits: 60 }, 60)).toBeLessThanOrEqual(0);
  });

  it("is one unit or none below one unit, so that 343 instances grant a limit of 60 on average", () => {
    const lots = Array.from({ length: 343 }, (_, instance) => createLots(`instance ${instance}`));
    const division = { instances: 343, limit: 60, ownUnits: 0 };
    const granted = Array.from({ length: 100 }, (_, minute) =>
      lots.reduce((sum, drawLot) => sum + shareOfLimit(division, () => drawLot("shop", minute * 60_000)), 0),
    );
    const mean = granted.reduce((sum, units) => sum + units, 0) / granted.length;
    // The standard deviation of a minute is 7 units, and that of the mean 0.7.
    expect(mean).toBeGreaterThan(57);
    expect(mean).toBeLessThan(63);
    expect(Math.max(...granted)).toBeLessThan(100);
  });
});

it("the lot of a window is the same each time, and differs between windows, accounts and instances", () => {
  const drawLot = createLots("one");
  const lots = [drawLot("shop", 0), drawLot("shop", 60_000), drawLot("other", 0), createLots("two")("shop", 0)];
  expect(new Set(lots).size).toBe(4);
  expect(drawLot("shop", 0)).toBe(lots[0]);
  for (const lot of lots) expect(lot >= 0 && lot < 1).toBe(true);
});
