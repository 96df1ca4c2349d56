import { setTimeout as sleep } from "node:timers/promises";
import type { Core } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { watchOverload } from "./overload.js";

const core = { stats: () => ({ database: { waiting: 0 } }) } as unknown as Core;
const shedding = { eventLoopDelayMs: 500, databaseQueue: 0 };

describe("requests that wait for their turn", () => {
  it("are overload once the first of them has waited too long, most of a second", { timeout: 15_000 }, async () => {
    let waitedMs = 0;
    using overload = watchOverload({ core, shedding, turns: { waitedMs: () => waitedMs } });
    waitedMs = 501;
    await expect.poll(() => overload.reason(), { timeout: 5_000 }).toBe("event-loop");
    waitedMs = 500;
    await expect.poll(() => overload.reason(), { timeout: 5_000 }).toBeUndefined();
  });

  it("are none where the limit is 0, or the wait was one moment", { timeout: 15_000 }, async () => {
    let waitedMs = 10_000;
    using unlimited = watchOverload({
      core,
      shedding: { ...shedding, eventLoopDelayMs: 0 },
      turns: { waitedMs: () => waitedMs },
    });
    using overload = watchOverload({ core, shedding, turns: { waitedMs: () => waitedMs } });
    await sleep(250);
    waitedMs = 0;
    for (let look = 0; look < 20; look++) {
      await sleep(100);
      expect([unlimited.reason(), overload.reason()]).toEqual([undefined, undefined]);
    }
  });
});
