import { describe, expect, it } from "vitest";
import type { Limits } from "../../src/quota/plan.js";
import type { Reservation } from "../../src/quota/quota.js";
import { minuteMs } from "../../src/quota/window.js";
import { admitted, type FallbackFixture, noon, openFallback, outcomes, shop } from "./fallback-fixture.js";

const limit = 60;

describe.each([2, 4])("%i instances while Redis is unavailable", (instances) => {
  it("grant exactly the limit together when all have seen the same load", async () => {
    const scenes = openInstances(instances);
    for (const { fallback } of scenes) fallback.observe(shop, admitted(20));
    expect(20 + (await grantedBy(scenes))).toBe(limit);
  });

  it("grant at most limit x (2 - 1 / instances) in the minute of the failure when one had all the load", async () => {
    const scenes = openInstances(instances);
    scenes[0]?.fallback.observe(shop, admitted(limit));
    expect(limit + (await grantedBy(scenes))).toBe(limit * (2 - 1 / instances));
  });

  it("grant less than that when the others have seen the account at least once", async () => {
    const scenes = openInstances(instances);
    for (const [index, { fallback }] of scenes.entries()) fallback.observe(shop, admitted(index === 0 ? limit : 1));
    const granted = limit + (await grantedBy(scenes));
    expect(granted).toBeGreaterThan(limit);
    expect(granted).toBeLessThan(limit * (2 - 1 / instances));
  });

  it("grant at most the limit in the next minute", async () => {
    const scenes = openInstances(instances);
    scenes[0]?.fallback.observe(shop, admitted(limit));
    await grantedBy(scenes);
    for (const { clock } of scenes) clock.nowMs = noon + minuteMs;
    expect(await grantedBy(scenes)).toBe(limit);
  });

  it("grant a limit below their number once each", async () => {
    const scenes = openInstances(instances);
    expect(await grantedBy(scenes, { perMinute: instances - 1, perDay: 1_000 })).toBe(instances);
  });
});

function openInstances(instances: number): FallbackFixture[] {
  return Array.from({ length: instances }, () => {
    const scene = openFallback({ instances });
    scene.outages.count = 1;
    return scene;
  });
}

/** The units that all instances together grant to as many requests as each of them can get. */
async function grantedBy(scenes: readonly FallbackFixture[], limits: Limits = shop.limits): Promise<number> {
  const reservation: Reservation = { ...shop, limits };
  const given = await Promise.all(scenes.map(({ fallback }) => outcomes(fallback, 2 * limit, reservation)));
  return given.flat().filter((outcome) => outcome === "admitted").length;
}
