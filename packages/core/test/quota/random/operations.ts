/**
 * Random scripts for quota engines: pure data, so that fast-check can shrink them, played on one or more engines at
 * once. The clock moves relative to the replies of the engine, because faults hide at the instants that these name.
 */
import fc from "fast-check";
import type { BanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import type { Limits } from "../../../src/quota/plan.js";
import type { Quota, Usage } from "../../../src/quota/quota.js";
import { dayMs, minuteMs, type Windows } from "../../../src/quota/window.js";
import { midnight, type OpenedQuota, tomorrow } from "../caller.js";
import { createVirtualClock, type Move } from "./virtual-clock.js";

/** Small numbers, so that a script of some dozen calls fills minutes and days and is banned several times. */
export const scriptPolicy: BanPolicy = {
  minimumStrikes: 4,
  strikesPerUnit: 1,
  graceMs: 100,
  earlyMs: 1_000,
  longestEpisodeMs: 60_000,
  firstBanMs: 20_000,
  longestBanMs: 70_000,
  memoryMs: 7_200_000,
};

/** The first plan needs the fewest strikes that ban, the others need more. The second's day is below its minute. */
const scriptPlans: readonly Limits[] = [
  { perMinute: 3, perDay: 11 },
  { perMinute: 6, perDay: 5 },
  { perMinute: 17, perDay: 60 },
];

type Call =
  /** `times` calls at once. */
  | { readonly call: "reserve"; readonly cost: number; readonly times: number }
  /** Extends the account's latest admission of one unit, which can be extended once. */
  | { readonly call: "extend"; readonly cost: number }
  | { readonly call: "usage" }
  /**
   * Gives back the account's admission of that many admissions ago, as often as it is drawn. An account without admissions
   * gives back one of the other account, which must change nothing.
   */
  | { readonly call: "refund"; readonly admissionsAgo: number }
  | { readonly call: "liftBan"; readonly liftedAgoMs: number }
  | { readonly call: "changePlan"; readonly plan: number };

type Operation = Call & { readonly move: Move; readonly account: number; readonly key: number };

export interface Script {
  readonly startMs: number;
  readonly plan: number;
  readonly operations: readonly Operation[];
}

/** One call and the reply of each engine, in the order of the engines. */
export interface Played {
  readonly call: Call["call"];
  readonly account: string;
  readonly key: string;
  readonly limits: Limits;
  readonly cost: number;
  readonly nowMs: number;
  readonly replies: readonly Reply[];
}

export type Reply = Decision | Usage | Windows | undefined;

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
  [2, fc.nat({ max: scriptPlans.length - 1 }).map((plan) => ({ call: "changePlan", plan }))],
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
const edges = ["minuteReset", "dayReset", "retry", "earlyStart", "episodeEnd", "banEnd", "memoryEnd"] as const;
const stepBack = fc.tuple(fc.constantFrom(0, -2_000, -minuteMs, -2 * minuteMs, -dayMs), aroundEdge);

/** Jumps to every instant at which a reply may change, and 1 ms to either side of it. */
const randomBoundaries: fc.Arbitrary<Script> = scripts(
  oneOf<Move>(
    [10, wait(fc.constant(0))],
    [4, wait(fc.integer({ min: 1, max: 3_000 }))],
    // The end of the grace twice, because a ban begins after it.
    [12, fc.record({ to: fc.constantFrom(...edges, "graceEnd", "graceEnd"), offsetMs: aroundEdge })],
    [2, wait(stepBack.map(([ms, offsetMs]) => ms + offsetMs))],
  ),
);

/** Longer than the grace of the script policy. */
const beforeEdgeMs = 150;

/**
 * One key that is banned several times, at the end of a ban and at the end of its memory. A ban at such an instant needs
 * an episode that began before it. Random scripts almost never contain one.
 */
const banRounds: fc.Arbitrary<Script> = fc.record({
  startMs: fc.integer({ min: midnight, max: tomorrow - 10 * minuteMs }),
  plan: fc.nat({ max: 2 }),
  operations: fc
    .array(fc.tuple(fc.constantFrom("banEnd" as const, "memoryEnd" as const), aroundEdge), {
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

const boundaryDirected: fc.Arbitrary<Script> = oneOf([12, randomBoundaries], [1, banRounds]);

export const generators: readonly { readonly generator: string; readonly scripts: fc.Arbitrary<Script> }[] = [
  { generator: "burst-dense", scripts: burstDense },
  { generator: "boundary-directed", scripts: boundaryDirected },
];

/**
 * Plays a script on all engines at one virtual time, led by the replies of the first one. The clock never falls further
 * than `fallBackMs` behind its latest instant.
 */
export async function play(
  script: Script,
  engines: readonly OpenedQuota[],
  { fallBackMs, prefix = "" }: { readonly fallBackMs: number; readonly prefix?: string },
): Promise<Played[]> {
  const clock = createVirtualClock(script.startMs, { fallBackMs, banPolicy: scriptPolicy });
  const plans = new Map<number, number>();
  const admissions = new Map<number, { cost: number; heldIn: Admitted }[]>();
  const played: Played[] = [];

  for (const operation of script.operations) {
    const who = { account: `${prefix}account-${operation.account}`, key: `key-${operation.key}` };
    const nowMs = clock.move(operation.move, who);
    for (const { setNow } of engines) setNow(nowMs);
    if (operation.call === "changePlan") plans.set(operation.account, operation.plan);
    const limits = scriptPlans[plans.get(operation.account) ?? script.plan];
    if (limits === undefined) throw new Error("a script names a plan that does not exist");
    const admitted = admissions.get(operation.account) ?? [];
    admissions.set(operation.account, admitted);

    const send = async (cost: number, ask: (quota: Quota) => Promise<Reply>, times = 1): Promise<void> => {
      const byEngine: Reply[][] = [];
      for (const { quota } of engines) {
        byEngine.push(await Promise.all(Array.from({ length: times }, () => ask(quota))));
      }
      for (let time = 0; time < times; time += 1) {
        const replies = byEngine.map((replies) => replies[time]);
        played.push({ call: operation.call, ...who, limits, cost, nowMs, replies });
        const [decision] = replies;
        if (decision === undefined || !("outcome" in decision)) continue;
        clock.observe(decision, who);
        if (decision.outcome === "admitted") admitted.push({ cost, heldIn: decision });
      }
    };

    switch (operation.call) {
      case "reserve": {
        const { cost, times } = operation;
        await send(cost, (quota) => quota.reserve({ ...who, limits, cost }), times);
        break;
      }
      case "extend": {
        const { cost } = operation;
        const index = admitted.findLastIndex((admission) => admission.cost === 1);
        const [admission] = index === -1 ? [] : admitted.splice(index, 1);
        if (admission === undefined) break;
        await send(cost, (quota) => quota.extend({ ...who, limits, cost, heldIn: admission.heldIn }));
        break;
      }
      case "refund": {
        const held = admitted.length > 0 ? admitted : (admissions.get(1 - operation.account) ?? []);
        const admission = held.at(-1 - operation.admissionsAgo);
        if (admission === undefined) break;
        await send(admission.cost, (quota) => quota.refund({ ...who, limits, ...admission }));
        break;
      }
      case "liftBan": {
        const { liftedAgoMs } = operation;
        await send(0, async (quota) => void (await quota.liftBan({ ...who, liftedAgoMs })));
        break;
      }
      case "usage":
      case "changePlan":
        await send(0, (quota) => quota.usage({ ...who, limits }));
        break;
    }
  }
  return played;
}

function oneOf<T>(...weighted: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

function wait(ms: fc.Arbitrary<number>): fc.Arbitrary<Move> {
  return ms.map((waitMs) => ({ waitMs }));
}

/** Most calls are about one account and one key. Calls of the others show that an engine keeps them apart. */
function scripts(move: fc.Arbitrary<Move>): fc.Arbitrary<Script> {
  const mostlyFirst = oneOf([5, fc.constant(0)], [1, fc.constant(1)]);
  const operation = fc
    .tuple(call, fc.record({ move, account: mostlyFirst, key: mostlyFirst }))
    .map(([what, how]): Operation => ({ ...what, ...how }));
  return fc.record({
    startMs: starts,
    plan: fc.nat({ max: scriptPlans.length - 1 }),
    operations: fc.array(operation, { minLength: 1, maxLength: 60, size: "max" }),
  });
}

function callOften(move: Move): Operation {
  return { call: "reserve", cost: 1, times: 24, move, account: 0, key: 0 };
}
