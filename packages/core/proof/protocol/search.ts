import { type Fault, firstState, keyOf, type Model, type State, type Window } from "./state.js";
import { stepsFrom } from "./steps.js";

export interface SearchResult {
  /** How many different states were visited. */
  readonly states: number;
  /** The shortest way to a state that breaks a promise. */
  readonly counterexample: Counterexample | undefined;
}

interface Counterexample {
  readonly promise: string;
  readonly steps: readonly string[];
}

/** How a state was reached first: the key of the state before it, and the step. */
type Origin = readonly [key: string, step: string];

/** A breadth-first search of every state that the model can reach. Stops at the first that breaks a promise. */
export function search(model: Model): SearchResult {
  const first = firstState(model);
  const firstKey = keyOf(first);
  const origins = new Map<string, Origin | undefined>([[firstKey, undefined]]);
  let reached: ReadonlyMap<string, State> = new Map([[firstKey, first]]);
  while (reached.size > 0) {
    const following = new Map<string, State>();
    for (const [key, state] of reached) {
      const promise = brokenPromise(model, state);
      if (promise !== undefined) {
        return { states: origins.size, counterexample: { promise, steps: wayTo(key, origins) } };
      }
      for (const { name, next } of stepsFrom(model, state)) {
        const nextKey = keyOf(next);
        if (origins.has(nextKey)) continue;
        origins.set(nextKey, [key, name]);
        following.set(nextKey, next);
      }
    }
    reached = following;
  }
  return { states: origins.size, counterexample: undefined };
}

/** The most units of a window that may be admitted if a fault disturbs it. Each further loss can add the limit. */
function boundOf({ instances, limit, faults, maxFaults }: Model): number {
  const ofOneFault = limit * (mayLoseUnits(faults) ? 3 - 2 / instances : 2 - 1 / instances);
  return Math.floor(ofOneFault) + (mayLoseUnits(faults) ? (maxFaults - 1) * limit : 0);
}

function mayLoseUnits(faults: readonly Fault[]): boolean {
  return faults.includes("lose data") || faults.includes("two primaries");
}

function brokenPromise(model: Model, state: State): string | undefined {
  const { redis, instances, countsByWindow } = state;
  for (const window of [0, 1] as const) {
    const { admitted, countedWithoutReply, perhapsUncounted, isDisturbed } = countsByWindow[window];
    const allowed = isDisturbed ? boundOf(model) : model.limit;
    if (admitted > allowed) return `${admitted} units of window ${window} were admitted, more than ${allowed}`;
    if (redis.window !== window) continue;
    const counts = `Redis counts ${redis.used} units of window ${window}`;
    const explained = admitted + countedWithoutReply + repliesInFlight(state, window);
    if (redis.used > explained) return `${counts}, more than ${explained}`;
    if (!isCalm(state)) continue;
    const known = Math.max(...instances.map(({ counter }) => (counter?.window === window ? counter.known : 0)));
    if (redis.used < known) return `${counts}, but an instance knows ${known}`;
    const least = admitted - perhapsUncounted;
    if (redis.used < least && !mayLoseUnits(model.faults)) return `${counts} after the outage, fewer than ${least}`;
  }
  return undefined;
}

/** Admissions whose replies have not reached their instance. */
function repliesInFlight({ instances }: State, window: Window): number {
  const replies = instances.flatMap(({ calls }) => calls.map(({ reply }) => reply));
  return replies.filter((reply) => typeof reply === "object" && reply.isAdmitted && reply.window === window).length;
}

/** Redis is up, no call is in flight, and no instance has anything to report. */
function isCalm({ redis, oldPrimary, instances }: State): boolean {
  const isDone = instances.every(({ isOpen, calls, counter, outages, syncedOutage }) => {
    const isSynced = counter === undefined || (counter.unsynced === 0 && syncedOutage === outages);
    return !isOpen && calls.length === 0 && isSynced;
  });
  return redis.status === "up" && oldPrimary === undefined && isDone;
}

function wayTo(key: string, origins: ReadonlyMap<string, Origin | undefined>): string[] {
  const names: string[] = [];
  for (let origin = origins.get(key); origin !== undefined; origin = origins.get(origin[0])) names.unshift(origin[1]);
  return names;
}
