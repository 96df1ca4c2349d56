import { describe, expect, it } from "vitest";
import { type Limits, limitsOf } from "../../src/quota/plan.js";
import { minuteMs } from "../../src/quota/window.js";
import { createCaller, noon, openLocal } from "./caller.js";
import { describeQuota } from "./describe-quota.js";

const limits = { perMinute: 5, perDay: 8 };

describeQuota("local", (banPolicy) => openLocal({ banPolicy }));

describe("local quota", () => {
  it("memory stays bounded: beyond its capacity the account that was idle longest is forgotten", async () => {
    const opened = openLocal({ capacity: 2 });
    const [first, second, third] = [0, 1, 2].map(() => createCaller(opened, limits));
    await first?.reserve(noon, 5);
    await second?.reserve(noon, 5);
    await first?.reserve(noon);
    await third?.reserve(noon, 5);
    expect(await first?.usage(noon), "used last").toMatchObject({ minute: { used: 5 } });
    expect(await second?.usage(noon), "idle longest").toMatchObject({ minute: { used: 0 } });
    expect(await third?.usage(noon), "the newest").toMatchObject({ minute: { used: 5 } });
  });
});

/** Callers that ignore every refusal, under the default ban policy, whenever they begin. */
describe("a loop of requests", () => {
  const startsMs = Array.from({ length: 60 }, (_, second) => noon + second * 1_000 + 1);

  it.each([
    [100, 10],
    [10, 60],
  ])("of %i a second is banned on Free within %i s", async (perSecond, seconds) => {
    for (const startMs of startsMs) {
      expect(await loop(startMs, limitsOf({ plan: "free" }), 60 * perSecond, seconds / 60)).toBe("banned");
    }
  });

  it.each(["free", "pro", "business"] as const)("below twice the minute limit is not banned on %s", async (plan) => {
    const { perMinute, perDay } = limitsOf({ plan });
    for (const limits of [
      { perMinute, perDay },
      { perMinute, perDay: 3 * perMinute },
    ]) {
      for (const startMs of startsMs.slice(0, 5)) {
        expect(await loop(startMs, limits, 2 * perMinute - 1, 6)).not.toBe("banned");
      }
    }
  });
});

/** Calls evenly for these minutes, or until a ban. Returns the last outcome. */
async function loop(startMs: number, limits: Limits, perMinute: number, minutes: number): Promise<string> {
  const opened = openLocal({});
  const caller = createCaller(opened, limits);
  let outcome = "";
  for (let request = 0; request < minutes * perMinute && outcome !== "banned"; request += 1) {
    ({ outcome } = await caller.reserve(startMs + Math.floor((request * minuteMs) / perMinute)));
  }
  return outcome;
}
