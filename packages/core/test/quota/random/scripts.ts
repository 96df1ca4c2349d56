/** Random scripts of calls to a quota engine. They are pure data, so that fast-check can shrink them. */
import fc from "fast-check";
import type { BanPolicy } from "../../../src/quota/ban-policy.js";
import type { Limits } from "../../../src/quota/plan.js";
import { dayMs, minuteMs } from "../../../src/quota/window.js";
import { midnight, tomorrow } from "../caller.js";

/** Small numbers, so that a script of some dozen calls fills minutes and days and is banned several times. */
export const scriptPolicy: BanPolicy = {
  minimumStrikes: 4,
  strikesPerUnit: 1,
  graceMs: 100,
  earlyMs: 1_000,
  longestEpisodeMs: 60_000,
  firstBanMs: 20_000,
  longestBanMs: 30_000,
  memoryMs: 7_200_000,
};

/** `edge` is any number. It chooses an instant at which a reply to this key may change, known from earlier replies. */
type Move = { readonly waitMs: number } | { readonly edge: number; readonly offsetMs: number };

export type Call =
  /** `times` calls at once. */
  | { readonly call: "reserve"; readonly cost: number; readonly times: number }
  /** Extends the latest admission of one unit, as often as it is drawn. */
  | { readonly call: "extend"; readonly cost: number }
  | { readonly call: "usage" }
  /** Gives back the admission of that many admissions ago, as often as it is drawn, even to an account without units. */
  | { readonly call: "refund"; readonly admissionsAgo: number }
  | { readonly call: "liftBan"; readonly liftedAgoMs: number };

/** The clock moves before the call. */
export type Operation = Call & {
  readonly move: Move;
  readonly account: number;
  readonly key: number;
  readonly limits: Limits;
};

export interface Script {
  readonly startMs: number;
  readonly operations: readonly Operation[];
}

/** The first plan needs the fewest strikes that ban, the others need more. The second's day is below its minute. */
const plans: fc.Arbitrary<Limits> = fc.constantFrom(
  { perMinute: 3, perDay: 11 },
  { perMinute: 6, perDay: 5 },
  { perMinute: 17, perDay: 60 },
);

const starts = fc.oneof(
  fc.integer({ min: midnight, max: tomorrow }),
  fc.integer({ min: midnight - 2 * minuteMs, max: midnight + 1_000 }),
);

const reserve: fc.Arbitrary<Call> = fc.record({
  call: fc.constant("reserve" as const),
  cost: oneOf([5, fc.constant(1)], [2, fc.integer({ min: 2, max: 7 })]),
  // 45 is enough to use a minute of any plan up and be banned at once.
  times: oneOf([6, fc.constant(1)], [6, fc.integer({ min: 2, max: 12 })], [3, fc.constant(45)]),
});

const call: fc.Arbitrary<Call> = oneOf<Call>(
  [30, reserve],
  [6, fc.integer({ min: 1, max: 7 }).map((cost) => ({ call: "extend", cost }))],
  [4, fc.constant({ call: "usage" })],
  [4, fc.nat({ max: 6 }).map((admissionsAgo) => ({ call: "refund", admissionsAgo }))],
  [2, oneOf([1, fc.constant(0)], [1, fc.nat({ max: 2_000 })]).map((liftedAgoMs) => ({ call: "liftBan", liftedAgoMs }))],
);

/** Steps of 0 to 900 ms, many of them 0, as in a busy second. */
const burstDense: fc.Arbitrary<Script> = scripts(
  oneOf(
    [12, wait(fc.constant(0))],
    [10, wait(fc.integer({ min: 1, max: 900 }))],
    [1, wait(fc.integer({ min: -900, max: -1 }))],
  ),
);

const aroundEdge = fc.integer({ min: -1, max: 1 });
const stepBack = fc.tuple(fc.constantFrom(0, -2_000, -minuteMs, -2 * minuteMs, -dayMs), aroundEdge);

/** Jumps to every instant at which a reply may change, and 1 ms to either side of it. */
const boundaryDirected: fc.Arbitrary<Script> = scripts(
  oneOf<Move>(
    [10, wait(fc.constant(0))],
    [4, wait(fc.integer({ min: 1, max: 3_000 }))],
    [12, fc.record({ edge: fc.nat(), offsetMs: aroundEdge })],
    [2, wait(stepBack.map(([ms, offsetMs]) => ms + offsetMs))],
  ),
);

export const generators: readonly { readonly generator: string; readonly scripts: fc.Arbitrary<Script> }[] = [
  { generator: "burst-dense", scripts: burstDense },
  { generator: "boundary-directed", scripts: boundaryDirected },
];

function oneOf<T>(...weighted: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

function wait(ms: fc.Arbitrary<number>): fc.Arbitrary<Move> {
  return ms.map((waitMs) => ({ waitMs }));
}

/** Most calls are about one account and one key, on one plan. The others show that an engine keeps accounts and keys apart. */
function scripts(move: fc.Arbitrary<Move>): fc.Arbitrary<Script> {
  const mostlyFirst = oneOf([5, fc.constant(0)], [1, fc.constant(1)]);
  return plans.chain((plan) => {
    const limits = oneOf([8, fc.constant(plan)], [1, plans]);
    const operation = fc
      .tuple(call, fc.record({ move, account: mostlyFirst, key: mostlyFirst, limits }))
      .map(([what, how]): Operation => ({ ...what, ...how }));
    return fc.record({
      startMs: starts,
      operations: fc.array(operation, { minLength: 1, maxLength: 60, size: "max" }),
    });
  });
}
