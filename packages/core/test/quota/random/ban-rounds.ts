import fc from "fast-check";
import { dayMs, minuteMs } from "../../../src/quota/window.js";
import type { Operation, Script } from "./operations.js";
import type { Move } from "./virtual-clock.js";

const midnight = Date.UTC(2031, 4, 14);
/** Longer than the grace of the script policy. */
const beforeEdgeMs = 150;

/**
 * One key that is banned several times, at the end of a ban and at the end of its memory. A ban at such an instant needs
 * an episode that began before it. Random scripts almost never contain one.
 */
export const banRounds: fc.Arbitrary<Script> = fc.record({
  startMs: fc.integer({ min: midnight, max: midnight + dayMs - 10 * minuteMs }),
  plan: fc.nat({ max: 2 }),
  operations: fc
    .array(fc.tuple(fc.constantFrom("banEnd" as const, "memoryEnd" as const), fc.integer({ min: -1, max: 1 })), {
      minLength: 2,
      maxLength: 5,
      size: "max",
    })
    .map((rounds) =>
      rounds.flatMap(([to, offsetMs]) => [
        callOften({ to, offsetMs: -beforeEdgeMs }),
        callOften({ to, offsetMs }),
        callOften({ to: "graceEnd", offsetMs: 1 }),
      ]),
    ),
});

function callOften(move: Move): Operation {
  return { call: "reserve", cost: 1, times: 24, move, account: 0, key: 0 };
}
