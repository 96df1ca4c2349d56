/** A fault of Redis or of a connection, at any moment. */
export type Fault =
  /** Redis stops. Calls that it has not executed are lost, and all connections break. It keeps its data. */
  | "kill"
  /** A killed Redis returns without some of its units, as an empty Redis or a promoted replica does. */
  | "lose data"
  /** Redis executes nothing for a while, and later executes the calls that it was sent. */
  | "pause"
  /** Redis refuses calls with an error reply. */
  | "read-only"
  /**
   * A replica that may lack units becomes the primary. The old primary counts for each instance that is still connected to
   * it, until it becomes a replica. No other fault is combined with this one.
   */
  | "two primaries"
  /** The connection of one instance breaks. Redis may have received its call. */
  | "cut";

/** A mistake in the protocol that the search has to find. */
export type Mistake =
  | "a carried unit stays unsynced"
  | "a call without a reply counts as not executed"
  | "Redis is not raised to the last known count"
  | "an outage starts from an unused share"
  | "carried units are not restored after an error reply"
  | "an instance changes the primary without an outage";

export interface Model {
  readonly instances: number;
  readonly limit: number;
  readonly windows: 1 | 2;
  /** Each has a cost of 1. */
  readonly requests: number;
  readonly faults: readonly Fault[];
  /** How many faults happen, at most. */
  readonly maxFaults: number;
  readonly mistake?: Mistake;
}

export type Window = 0 | 1;

export interface State {
  /** The present window. */
  window: Window;
  requestsLeft: number;
  faultsLeft: number;
  redis: Primary & { status: "up" | "paused" | "read-only" | "down" };
  /** The former primary, while it accepts writes. */
  oldPrimary: Primary | undefined;
  readonly instances: readonly Instance[];
  readonly countsByWindow: Readonly<Record<Window, WindowCounts>>;
}

interface Primary {
  window: Window;
  used: number;
}

/** The counts of one window. */
interface WindowCounts {
  /** Units that clients were granted. */
  admitted: number;
  /** Units that Redis has counted for a request that got another answer, because its reply was lost. */
  countedWithoutReply: number;
  /** Admitted units that Redis may never count, because nobody knows whether it executed a call without a reply. */
  perhapsUncounted: number;
  /** True if an instance decided without Redis, or if Redis has lost data. */
  isDisturbed: boolean;
}

/** The breaker and the account snapshot of an instance. */
export interface Instance {
  isOnOldPrimary: boolean;
  isOpen: boolean;
  outages: number;
  /** `undefined` if the instance has never counted. */
  counter: Counter | undefined;
  syncedOutage: number;
  seededOutage: number;
  /** The local quota, which decides during an outage. */
  local: { readonly window: Window | undefined; readonly used: number } | undefined;
  calls: readonly Call[];
}

export interface Counter {
  readonly window: Window;
  readonly known: number;
  readonly unsynced: number;
}

/** A call of the reserve script. */
export interface Call {
  readonly isOnOldPrimary: boolean;
  /** The counter that the call carries after an outage. */
  readonly carried: Counter | undefined;
  readonly reply: "none" | "error" | Executed;
  /** Set when the instance has decided without the reply. Redis may still execute the call. */
  readonly answer: { readonly isAdmitted: boolean; readonly window: Window } | undefined;
}

export interface Executed {
  readonly isAdmitted: boolean;
  readonly window: Window;
  readonly used: number;
}

export function firstState({ instances, requests, maxFaults }: Model): State {
  const instance: Instance = {
    isOnOldPrimary: false,
    isOpen: false,
    outages: 0,
    counter: undefined,
    syncedOutage: 0,
    seededOutage: 0,
    local: undefined,
    calls: [],
  };
  const counts: WindowCounts = { admitted: 0, countedWithoutReply: 0, perhapsUncounted: 0, isDisturbed: false };
  return {
    window: 0,
    requestsLeft: requests,
    faultsLeft: maxFaults,
    redis: { status: "up", window: 0, used: 0 },
    oldPrimary: undefined,
    instances: Array(instances).fill(instance),
    countsByWindow: { 0: counts, 1: counts },
  };
}

/** A copy whose changes leave the state as it is. */
export function copyOf({ redis, oldPrimary, instances, countsByWindow, ...rest }: State): State {
  return {
    ...rest,
    redis: { ...redis },
    oldPrimary: oldPrimary && { ...oldPrimary },
    instances: instances.map((instance) => ({ ...instance })),
    countsByWindow: { 0: { ...countsByWindow[0] }, 1: { ...countsByWindow[1] } },
  };
}

/** Instances are interchangeable, so their order does not distinguish states. */
export function keyOf({ instances, ...rest }: State): string {
  const sorted = instances.map((instance) => JSON.stringify(instance)).sort();
  return `${JSON.stringify(rest)}${sorted.join("")}`;
}
