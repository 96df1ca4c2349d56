import { describe, expect, it } from "vitest";
import type { Admitted, Decision } from "../../src/quota/decision.js";
import type { Fallback } from "../../src/quota/engines/fallback/last-known-counts.js";
import { minuteMs } from "../../src/quota/window.js";
import { admitted, midnight, noon, openFallback, outcomes, shop } from "./fallback-fixture.js";

/** Two instances. Redis has counted 40 of 60 units, the held one included: this instance may grant 10 more. */
const seenUsed = 40;

describe("an extension while Redis is unavailable", () => {
  const carried = (floor: number, units: number) => ({
    minute: { startMs: noon, floor, units },
    day: { startMs: midnight, floor, units },
  });

  it("charges a unit that Redis has counted once", async () => {
    const { fallback, held } = openWithUnitHeldInRedis();
    expect(await extend(fallback, held, 11)).toMatchObject({ outcome: "admitted", mode: "fallback" });
    expect(await outcomes(fallback, 1)).toEqual(["refused"]);
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed, 10));
  });

  it("refuses more than this instance's share, and gives the unit back here", async () => {
    const { fallback, held } = openWithUnitHeldInRedis();
    expect(await extend(fallback, held, 12)).toMatchObject({ outcome: "refused", by: "minute" });
    expect(await outcomes(fallback, 12)).toEqual([...Array(11).fill("admitted"), "refused"]);
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed, 11));
  });

  it("takes a unit back from those that are carried to Redis when it was granted without it", async () => {
    const { fallback } = openWithUnitHeldInRedis();
    const held = await admittedBy(fallback);
    expect(await extend(fallback, held, 50)).toMatchObject({ outcome: "refused", by: "minute" });
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed, 0));
  });

  it("carries n units for an extension of a unit that was granted without Redis", async () => {
    const { fallback } = openWithUnitHeldInRedis();
    const held = await admittedBy(fallback);
    expect(await extend(fallback, held, 4)).toMatchObject({ outcome: "admitted" });
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed, 4));
  });

  it("raises what Redis must have counted when Redis may have executed it", async () => {
    const { fallback, held } = openWithUnitHeldInRedis();
    expect(await fallback.extend({ ...shop, cost: 4, held }, true)).toMatchObject({ outcome: "admitted" });
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed + 3, 0));
  });

  it("takes nothing back when Redis may have done so itself", async () => {
    const { fallback, held } = openWithUnitHeldInRedis();
    await outcomes(fallback, 2);
    expect(await fallback.extend({ ...shop, cost: 12, held }, true)).toMatchObject({ outcome: "refused" });
    expect(fallback.takeCarried("shop")).toEqual(carried(seenUsed, 2));
  });

  it("charges a new minute n units; the day counts the held unit", async () => {
    const { fallback, clock, held } = openWithUnitHeldInRedis();
    clock.nowMs = noon + minuteMs;
    expect(await extend(fallback, held, 5)).toMatchObject({ outcome: "admitted" });
    expect(fallback.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 5 },
      day: { startMs: midnight, floor: seenUsed, units: 4 },
    });
  });

  it("charges n units after a reset of the account", async () => {
    const { fallback, held } = openWithUnitHeldInRedis();
    await fallback.reset("shop");
    expect(await extend(fallback, held, 5)).toMatchObject({ outcome: "admitted" });
    expect(fallback.takeCarried("shop")).toEqual(carried(0, 5));
  });
});

function openWithUnitHeldInRedis() {
  const scene = openFallback();
  const held = admitted(seenUsed);
  scene.fallback.observe(shop, held);
  scene.outages.count = 1;
  return { ...scene, held };
}

function extend(fallback: Fallback, held: Admitted, cost: number): Promise<Decision> {
  return fallback.extend({ ...shop, cost, held }, false);
}

async function admittedBy(fallback: Fallback): Promise<Admitted> {
  const decision = await fallback.reserve(shop, false);
  if (decision.outcome !== "admitted") throw new Error(`expected an admission, got ${decision.outcome}`);
  return decision;
}
