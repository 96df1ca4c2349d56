/**
 * A model of an account that several instances serve until Redis fails. Every order of the steps is explored. The rules,
 * `account-counts.ts` and `share.ts`, are those of the service. Each request costs one unit.
 *
 * - A request reaches any instance. Redis grants a unit or refuses, and the instance keeps the counts of the reply.
 * - The next minute begins.
 * - One instance loses Redis, and gets no further reply.
 *
 * In every state, the model supposes that the other instances lose Redis too, and that each instance gets more requests than it
 * grants. It then adds up what they grant in the present window and in each later one. Below one unit, it adds up the mean of all
 * lots.
 */
import { type AccountCounts, noCounts, ownUnitsAt, withReply } from "../../../src/quota/engines/account-counts.js";
import { type Division, shareOfLimit, shareOfRest } from "../../../src/quota/engines/fallback/share.js";
import { minuteMs, type Windows } from "../../../src/quota/window.js";
import { noon, tomorrow } from "../caller.js";

/** Mistakes that the model must find. */
export const faults = [
  "divides the limit equally",
  "adds own units to the n-th part",
  "divides own units by the units that the instance knows of",
  "takes the units of all instances as its own",
  "takes the own units of an earlier minute",
  "takes the own units of the minute of the outage",
  "grants one unit at least",
  "grants the share of the limit again in the window of the outage",
  "rounds up",
] as const;
export type Fault = (typeof faults)[number];

export interface Options {
  /** The window of the limit. The other window has no limit. */
  readonly window: "minute" | "day";
  readonly instances: number;
  readonly limit: number;
  readonly minutes: number;
  /** True: all instances lose Redis at the same moment. */
  readonly loseTogether: boolean;
  readonly fault?: Fault;
}

interface Instance {
  readonly counts: AccountCounts;
  /** The minute in which it lost Redis. */
  readonly lostIn: number | undefined;
}

interface State {
  readonly minute: number;
  /** Units that Redis counts in the present window, and in the minute before. */
  readonly used: number;
  readonly usedBefore: number;
  readonly instances: readonly Instance[];
}

interface Step {
  readonly name: string;
  readonly state: State;
}

/** Visits every state, or stops at the first broken promise and returns the steps that led to it. */
export function explore(options: Options): { readonly states: number; readonly broken: readonly string[] } {
  const start: State = {
    minute: 0,
    used: 0,
    usedBefore: 0,
    instances: Array(options.instances).fill({ counts: noCounts, lostIn: undefined }),
  };
  const seen = new Set([keyOf(start, options)]);
  const reached: { readonly step: Step; readonly from: number }[] = [
    { step: { name: "start", state: start }, from: -1 },
  ];
  for (let place = 0; place < reached.length; place += 1) {
    const { state } = (reached[place] as (typeof reached)[number]).step;
    const broken = brokenPromise(state, options);
    if (broken !== undefined) {
      const steps = [broken];
      for (let at = reached[place]; at !== undefined; at = reached[at.from]) steps.unshift(at.step.name);
      return { states: seen.size, broken: steps };
    }
    for (const step of stepsFrom(state, options)) {
      const key = keyOf(step.state, options);
      if (seen.has(key)) continue;
      seen.add(key);
      reached.push({ step, from: place });
    }
  }
  return { states: seen.size, broken: [] };
}

function stepsFrom(state: State, options: Options): Step[] {
  const { minute, instances, used } = state;
  const steps: Step[] = [];
  for (const [place, instance] of instances.entries()) {
    if (instance.lostIn !== undefined) continue;
    steps.push(serve(state, place, options));
    if (options.loseTogether) continue;
    const lost = { ...instance, lostIn: minute };
    steps.push({ name: `${place} loses Redis`, state: { ...state, instances: instances.with(place, lost) } });
  }
  if (minute + 1 < options.minutes) {
    const next = { ...state, minute: minute + 1, used: 0, usedBefore: used };
    steps.push({
      name: "the next minute begins",
      state: options.fault === undefined ? next : age(next, options.fault),
    });
  }
  return steps;
}

function serve(state: State, place: number, { window, limit, fault }: Options): Step {
  const { minute, instances } = state;
  const instance = instances[place] as Instance;
  const isGranted = state.used < limit;
  const used = state.used + (isGranted ? 1 : 0);
  const other = { limit: unlimited, used, resetAtMs: resetOf(window === "minute" ? "day" : "minute", minute) };
  const tested = { limit, used, resetAtMs: resetOf(window, minute) };
  const nowMs = noon + minute * minuteMs;
  const reply: Windows =
    window === "minute" ? { nowMs, minute: tested, day: other } : { nowMs, minute: other, day: tested };
  const admitted = { outcome: "admitted", mode: "shared", ...reply } as const;
  const grant = isGranted ? { admitted, cost: 1, receipt: undefined } : undefined;
  let counts = withReply(instance.counts, reply, grant);
  if (fault === "takes the units of all instances as its own")
    counts = { ...counts, [window]: { ...counts[window], ownUnits: used } };
  return {
    name: `${place} is ${isGranted ? "granted" : "refused"} a unit`,
    state: { ...state, used, instances: instances.with(place, { ...instance, counts }) },
  };
}

const unlimited = 1_000_000;

function resetOf(window: "minute" | "day", minute: number): number {
  return window === "minute" ? noon + (minute + 1) * minuteMs : tomorrow;
}

/** With one of the faults, counts of an earlier minute look like those of the last full minute. */
function age(state: State, fault: Fault): State {
  if (fault !== "takes the own units of an earlier minute") return state;
  const resetAtMs = resetOf("minute", state.minute - 1);
  const instances = state.instances.map((instance) => {
    const { counts } = instance;
    return { ...instance, counts: { ...counts, minute: { ...counts.minute, resetAtMs } } };
  });
  return { ...state, instances };
}

function brokenPromise(state: State, options: Options): string | undefined {
  const { window, limit, instances: size } = options;
  const { minute, used, usedBefore, instances } = state;
  const lostIn = instances.map((instance) => instance.lostIn ?? minute);
  const own = instances.map(({ counts }, place) => ownUnitsAt(counts, timeIn(lostIn[place]))[window]);
  const shares = instances.map(({ counts }, place) => sharesOf(counts, timeIn(lostIn[place]), state, options));
  const now = used + sum(shares.map(({ present }) => present));
  const later = sum(shares.map((share) => share.later));

  // The bounds of the operations guide.
  const losses = window === "minute" ? new Set(lostIn).size : 1;
  const most = window === "minute" ? 2 - 1 / size + losses * (1 - 1 / size) : 2.5 - 2 / size;
  if (isAbove(now, limit * most)) return `${now} units in the window of the outage`;
  if (isAbove(later, limit * (1 + losses * (1 - 1 / size)))) return `${later} units in a later window`;

  const known = instances.map(({ counts }) => knownIn(counts, state, options));
  const isEven = losses === 1 && own.every((units) => units <= limit / size) && known.every((units) => units === used);
  if (isEven && isAbove(now, limit)) return `${now} units in the window of the outage, with even load`;
  if (isEven && isAbove(later, limit)) return `${later} units in a later window, with even load`;

  if (window === "day") return undefined;
  // One instance has served the whole last minute and the present one so far. It serves the rest as before.
  const [place] = instances.flatMap(({ counts }, place) => {
    const isAlone =
      own[place] === usedBefore && knownIn(counts, state, options) === used && ownIn(counts, state) === used;
    return isAlone && lostIn[place] === minute && used <= usedBefore ? [place] : [];
  });
  const share = place === undefined ? undefined : shares[place];
  if (share !== undefined && used + share.present < usedBefore) return "a steady client is refused in this minute";
  if (share !== undefined && share.later < usedBefore) return "a steady client is refused in later minutes";
  return undefined;
}

/** Any moment of this minute. */
function timeIn(minute = 0): number {
  return noon + minute * minuteMs;
}

function isAbove(units: number, most: number): boolean {
  return units > most + 1e-9;
}

/** The used units of the present window that the instance knows of. */
function knownIn(counts: AccountCounts, { minute }: State, { window }: Options): number {
  const { resetAtMs, knownUsed } = counts[window];
  return resetAtMs === resetOf(window, minute) ? knownUsed : 0;
}

function ownIn({ minute: counts }: AccountCounts, { minute }: State): number {
  return counts.resetAtMs === resetOf("minute", minute) ? counts.ownUnits : 0;
}

interface Shares {
  readonly present: number;
  /** In each window that begins in the outage. */
  readonly later: number;
}

function sharesOf(counts: AccountCounts, beganMs: number, state: State, options: Options): Shares {
  const { window, limit, instances, fault } = options;
  let ownUnits = ownUnitsAt(counts, beganMs)[window];
  if (fault === "divides the limit equally") ownUnits = 0;
  if (fault === "takes the own units of the minute of the outage") ownUnits = counts[window].ownUnits;
  const division = { limit, instances, ownUnits };
  let later = meanShareOfLimit(division);
  if (fault === "adds own units to the n-th part") later = Math.min(limit, Math.floor(limit / instances) + ownUnits);
  if (fault === "grants one unit at least") later = Math.max(1, later);
  if (fault === "rounds up") later = Math.max(ownUnits, Math.ceil(limit / instances));
  const isUnseen = counts[window].resetAtMs !== resetOf(window, state.minute);
  if (isUnseen || fault === "grants the share of the limit again in the window of the outage")
    return { present: later, later };
  const { knownUsed } = counts[window];
  let present = shareOfRest(division, knownUsed);
  if (fault === "divides own units by the units that the instance knows of")
    present = Math.max(present, Math.floor(((limit - knownUsed) * ownUnits) / knownUsed));
  return { present, later };
}

/** As many lots as instances, all equally likely. */
function meanShareOfLimit(division: Division): number {
  const { instances } = division;
  const lots = Array.from({ length: instances }, (_, lot) => lot / instances);
  return sum(lots.map((lot) => shareOfLimit(division, () => lot))) / instances;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Instances are equal, so their order does not matter. */
function keyOf({ minute, used, usedBefore, instances }: State, { window }: Options): string {
  const keys = instances.map(({ counts, lostIn }) => {
    const { resetAtMs, knownUsed, ownUnits, ownUnitsBefore } = counts[window];
    return [(resetAtMs - noon) / minuteMs, knownUsed, ownUnits, ownUnitsBefore, lostIn].join();
  });
  return [minute, used, usedBefore, ...keys.sort()].join(";");
}
