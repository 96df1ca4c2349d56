import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createUnknownKeyLimiter } from "./unknown-key-limiter.js";

const unavailable = { code: "SERVICE_UNAVAILABLE", status: 503, retryAfterSeconds: 1 };

describe("the limit of unknown keys", () => {
  it.each([
    ["found", 1_000],
    [undefined, 10],
  ])("runs 10 at once, and of 1,000 look-ups that find %j it runs %i and refuses the others", async (found, runs) => {
    const limiter = createUnknownKeyLimiter(() => 0);
    let started = 0;
    let running = 0;
    const lookUp = async () => {
      started += 1;
      running += 1;
      expect(running).toBeLessThanOrEqual(10);
      await turn();
      running -= 1;
      return found;
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 1_000 }, () => limiter.run("a", lookUp)));
    expect(started).toBe(runs);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toMatchObject(Array(1_000 - runs).fill({ reason: unavailable }));
    expect(limiter.refusals()).toBe(1_000 - runs);
  });

  it("gives one more look-up back after 200 ms, and never more than 10, to each client separately", async () => {
    const clock = { nowMs: 0 };
    const limiter = createUnknownKeyLimiter(() => clock.nowMs);
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

  it("runs 200 look-ups of unknown keys from many clients at once, and then 50 per second", async () => {
    const clock = { nowMs: 0 };
    const limiter = createUnknownKeyLimiter(() => clock.nowMs);
    let clients = 0;
    const flood = async () => {
      let started = 0;
      const lookUp = async () => {
        started += 1;
        await turn();
        return undefined;
      };
      const looks = Array.from({ length: 1_000 }, () => limiter.run(`client ${clients++}`, lookUp));
      const outcomes = await Promise.allSettled(looks);
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toMatchObject(Array(1_000 - started).fill({ reason: unavailable }));
      return started;
    };
    expect([await flood(), await flood()]).toEqual([200, 0]);
    clock.nowMs += 19;
    expect(await flood()).toBe(0);
    clock.nowMs += 1;
    expect(await flood()).toBe(1);
    clock.nowMs += 1_000;
    expect(await flood()).toBe(50);
    clock.nowMs += 3_600_000;
    expect(await flood()).toBe(200);
    expect(limiter.refusals()).toBe(6_000 - 451);
  });

  it("runs any number of look-ups that find a key, from many clients", async () => {
    const limiter = createUnknownKeyLimiter(() => 0);
    let running = 0;
    let most = 0;
    const lookUp = async () => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      return "found";
    };
    const found = await Promise.all(Array.from({ length: 1_000 }, (_, client) => limiter.run(`${client}`, lookUp)));
    expect(found).toEqual(Array(1_000).fill("found"));
    expect(most).toBe(200);
  });

  it("fails waiting look-ups with the one before them, instead of one after the other, and charges none", async () => {
    const limiter = createUnknownKeyLimiter(() => 0);
    let lookUps = 0;
    const lookUp = async () => {
      lookUps += 1;
      await turn();
      throw new Error("PostgreSQL is silent");
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => limiter.run("a", lookUp)));
    expect(outcomes).toMatchObject(Array(100).fill({ reason: { message: "PostgreSQL is silent" } }));
    expect(lookUps).toBe(10);
    expect(await limiter.run("a", async () => "found")).toBe("found");
  });
});
