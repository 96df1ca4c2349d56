import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createUnknownKeyLimiter } from "./unknown-key-limiter.js";

const unavailable = { code: "SERVICE_UNAVAILABLE", status: 503, retryAfterSeconds: 1 };

describe("the limit of unknown keys", () => {
  it("never refuses a client whose keys are all found, for any number at once", async () => {
    const { limiter, inFlight, mostInFlight } = open();
    const found = await Promise.all(Array.from({ length: 1_000 }, () => limiter.run("a", () => inFlight("found"))));
    expect(found).toEqual(Array(1_000).fill("found"));
    expect(mostInFlight()).toBe(10);
    expect(limiter.refusals()).toBe(0);
  });

  it("runs 10 of 1,000 concurrent look-ups that find nothing, and refuses the others", async () => {
    const { limiter, inFlight, started } = open();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1_000 }, () => limiter.run("a", () => inFlight(undefined))),
    );
    expect(started()).toBe(10);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toMatchObject(Array(990).fill({ reason: unavailable }));
    expect(limiter.refusals()).toBe(990);
  });

  it("charges only look-ups that find nothing", async () => {
    const { limiter } = open();
    for (let round = 0; round < 9; round++) await limiter.run("a", async () => undefined);
    for (let round = 0; round < 20; round++) await limiter.run("a", async () => "found");
    await expect(limiter.run("a", () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
    expect(await limiter.run("a", async () => undefined)).toBeUndefined();
    await expect(limiter.run("a", async () => "found")).rejects.toMatchObject(unavailable);
  });

  it("gives one more look-up back after 200 ms, and never more than 10, to each client separately", async () => {
    const { limiter, clock } = open();
    const spend = async (client: string) => {
      for (let count = 0; ; count++) {
        const spent = await Promise.allSettled([limiter.run(client, async () => undefined)]);
        if (spent[0].status === "rejected") return count;
      }
    };
    expect([await spend("a"), await spend("b")]).toEqual([10, 10]);
    clock.nowMs += 199;
    expect(await spend("a")).toBe(0);
    clock.nowMs += 1;
    expect(await spend("a")).toBe(1);
    clock.nowMs += 3_600_000;
    expect(await spend("a")).toBe(10);
  });

  it("fails waiting look-ups with the one before them, instead of one after the other", async () => {
    const { limiter } = open();
    let lookUps = 0;
    const lookUp = async () => {
      lookUps += 1;
      await turn();
      throw new Error("PostgreSQL is silent");
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => limiter.run("a", lookUp)));
    expect(outcomes).toMatchObject(Array(100).fill({ reason: { message: "PostgreSQL is silent" } }));
    expect(lookUps).toBe(10);
  });
});

function open() {
  const clock = { nowMs: 0 };
  let started = 0;
  let running = 0;
  let most = 0;
  return {
    limiter: createUnknownKeyLimiter(() => clock.nowMs),
    clock,
    started: () => started,
    mostInFlight: () => most,
    async inFlight<Found>(found: Found): Promise<Found> {
      started += 1;
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      return found;
    },
  };
}
