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
import type { OpenedQuota } from "../caller.js";
import { banRounds } from "./ban-rounds.js";
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
  /** Gives back the account's admission of that many admissions ago, as often as it is drawn. */
  | { readonly call: "refund"; readonly admissionsAgo: number }
  | { readonly call: "liftBan" }
  | { readonly call: "reset" }
  | { readonly call: "changePlan"; readonly plan: number };

export type Operation = Call & { readonly move: Move; readonly account: number; readonly key: number };

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

const midnight = Date.UTC(2031, 4, 14);
const starts = fc.oneof(
  fc.integer({ min: midnight, max: midnight + dayMs }),
  fc.integer({ min: midnight - 2 * minuteMs, max: midnight + 1_000 }),
);

const reserve: fc.Arbitrary<Call> = fc.record({
  call: fc.constant("reserve" as const),
  cost: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.integer({ min: 2, max: 7 }) }),
  times: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 6, arbitrary: fc.integer({ min: 2, max: 12 }) },
    // Enough to use a minute of any plan up and be banned at once.
    { weight: 3, arbitrary: fc.constant(45) },
  ),
});

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 30, arbitrary: reserve },
  { weight: 6, arbitrary: fc.record({ call: fc.constant("extend" as const), cost: fc.integer({ min: 1, max: 7 }) }) },
  { weight: 4, arbitrary: fc.constant({ call: "usage" as const }) },
  { weight: 4, arbitrary: fc.record({ call: fc.constant("refund" as const), admissionsAgo: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: fc.constant({ call: "liftBan" as const }) },
  { weight: 1, arbitrary: fc.constant({ call: "reset" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      call: fc.constant("changePlan" as const),
      plan: fc.nat({ max: scriptPlans.length - 1 }),
    }),
  },
);

/** Steps of 0 to 900 ms, many of them 0, as in a busy second. */
const burstDense: fc.Arbitrary<Script> = scripts(
  fc.oneof(
    { weight: 12, arbitrary: wait(fc.constant(0)) },
    { weight: 10, arbitrary: wait(fc.integer({ min: 1, max: 900 })) },
    { weight: 1, arbitrary: wait(fc.integer({ min: -900, max: -1 })) },
  ),
);

/** Jumps to every instant at which a reply may change, and 1 ms to either side of it. */
const randomBoundaries: fc.Arbitrary<Script> = scripts(
  fc.oneof(
    { weight: 10, arbitrary: wait(fc.constant(0)) },
    { weight: 4, arbitrary: wait(fc.integer({ min: 1, max: 3_000 })) },
    {
      weight: 12,
      arbitrary: fc.record({
        to: fc.constantFrom(
          "minuteReset",
          "dayReset",
          "retry",
          // Twice, because a ban begins after it.
          "graceEnd",
          "graceEnd",
          "earlyStart",
          "episodeEnd",
          "banEnd",
          "memoryEnd",
        ),
        offsetMs: fc.integer({ min: -1, max: 1 }),
      }) as fc.Arbitrary<Move>,
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(0, -2_000, -minuteMs, -2 * minuteMs, -dayMs), fc.integer({ min: -1, max: 1 }))
        .map(([ms, offsetMs]) => ({ waitMs: ms + offsetMs })),
    },
  ),
);

const boundaryDirected: fc.Arbitrary<Script> = fc.oneof(
  { weight: 12, arbitrary: randomBoundaries },
  { weight: 1, arbitrary: banRounds },
);

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

    const record = async (cost: number, ask: (quota: Quota) => Promise<Reply>, times = 1): Promise<Reply[]> => {
      const byEngine: Reply[][] = [];
      for (const { quota } of engines) {
        byEngine.push(await Promise.all(Array.from({ length: times }, () => ask(quota))));
      }
      for (let time = 0; time < times; time += 1) {
        const replies = byEngine.map((replies) => replies[time]);
        played.push({ call: operation.call, ...who, limits, cost, nowMs, replies });
      }
      return byEngine[0] ?? [];
    };

    const observe = (cost: number, decisions: readonly Reply[]): void => {
      for (const decision of decisions) {
        if (decision === undefined || !("outcome" in decision)) continue;
        clock.observe(decision, who);
        if (decision.outcome === "admitted") admitted.push({ cost, heldIn: decision });
      }
    };

    switch (operation.call) {
      case "reserve": {
        const { cost, times } = operation;
        observe(cost, await record(cost, (quota) => quota.reserve({ ...who, limits, cost }), times));
        break;
      }
      case "extend": {
        const { cost } = operation;
        const index = admitted.findLastIndex((admission) => admission.cost === 1);
        const [admission] = index === -1 ? [] : admitted.splice(index, 1);
        if (admission === undefined) break;
        const { heldIn } = admission;
        observe(cost, await record(cost, (quota) => quota.extend({ ...who, limits, cost, heldIn })));
        break;
      }
      case "refund": {
        const admission = admitted.at(-1 - operation.admissionsAgo);
        if (admission === undefined) break;
        await record(admission.cost, (quota) => quota.refund({ ...who, limits, ...admission }));
        break;
      }
      case "liftBan":
      case "reset":
        await record(0, async (quota) => void (await quota[operation.call](who)));
        break;
      case "usage":
      case "changePlan":
        await record(0, (quota) => quota.usage({ ...who, limits }));
        break;
    }
  }
  return played;
}

function wait(ms: fc.Arbitrary<number>): fc.Arbitrary<Move> {
  return ms.map((waitMs) => ({ waitMs }));
}

/** Most calls are about one account and one key. Calls of the others show that an engine keeps them apart. */
function scripts(move: fc.Arbitrary<Move>): fc.Arbitrary<Script> {
  const mostlyFirst = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
  const operation = fc
    .tuple(call, fc.record({ move, account: mostlyFirst, key: mostlyFirst }))
    .map(([what, how]): Operation => ({ ...what, ...how }));
  return fc.record({
    startMs: starts,
    plan: fc.nat({ max: scriptPlans.length - 1 }),
    operations: fc.array(operation, { minLength: 1, maxLength: 60, size: "max" }),
  });
}
