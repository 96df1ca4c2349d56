import { describe, expect, it } from "vitest";
import { fullSpeed, killedForTenSeconds } from "../src/virtual-scenarios.js";

const seeds = [1, 2, 3, 4, 5];

describe.each(seeds)("in virtual time, in front of the quota engine (seed %i)", (seed) => {
  it("one client at full speed on Free meets no 429 in 5 minutes, and uses every unit", async () => {
    expect(await fullSpeed(1, 5, seed)).toEqual({ admitted: 300, throughput: 1, refused: 0, bans: 0, failed: 0 });
  });

  it("ten clients of one account use at least 95 % of it, with at most 20 refusals a minute and no ban", async () => {
    const { throughput, refused, bans, failed } = await fullSpeed(10, 5, seed);
    expect(throughput).toBeGreaterThanOrEqual(0.95);
    expect(refused).toBeLessThanOrEqual(5 * 20);
    expect({ bans, failed }).toEqual({ bans: 0, failed: 0 });
  });

  it("forty clients of one key are not banned either", async () => {
    const { throughput, bans, failed } = await fullSpeed(40, 3, seed);
    expect(throughput).toBeGreaterThanOrEqual(0.95);
    expect({ bans, failed }).toEqual({ bans: 0, failed: 0 });
  });

  it("a service that is dead for 10 s costs no pet, and makes none twice", async () => {
    expect(await killedForTenSeconds(seed)).toEqual({ acknowledged: 400, failed: 0, duplicates: 0, lost: 0 });
  });
});
