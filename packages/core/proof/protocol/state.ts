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

/** A number for each of the two windows. */
export type ByWindow = readonly [number, number];

export interface State {
  /** The present window: 0 or 1. */
  readonly window: number;
  readonly requestsLeft: number;
  readonly faultsLeft: number;
  readonly redis: RedisState;
  /** The former primary, while it accepts writes. */
  readonly oldPrimary: Omit<RedisState, "status"> | undefined;
  readonly instances: readonly InstanceState[];
  /** Units that clients were granted. */
  readonly admitted: ByWindow;
  /** Units that Redis has counted for a request that got another answer, because its reply was lost. */
  readonly countedWithoutReply: ByWindow;
  /** Admitted units that Redis may never count, because nobody knows whether it executed a call without a reply. */
  readonly perhapsUncounted: ByWindow;
  /** 1 if an instance decided without Redis in the window, or Redis has lost data of it. */
  readonly isDisturbed: ByWindow;
}

interface RedisState {
  readonly status: "up" | "paused" | "read-only" | "down";
  readonly window: number;
  readonly used: number;
}

/** The breaker and the account snapshot of an instance. */
export interface InstanceState {
  readonly isOnOldPrimary: boolean;
  readonly isOpen: boolean;
  readonly outages: number;
  readonly counter: Counter;
  readonly syncedOutage: number;
  readonly seededOutage: number;
  /** The local quota, which decides during an outage. */
  readonly local: { readonly window: number; readonly used: number };
  readonly calls: readonly Call[];
}

export interface Counter {
  /** -1 if the instance has never counted. */
  readonly window: number;
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
  readonly answer: { readonly isAdmitted: boolean; readonly window: number } | undefined;
}

export interface Executed {
  readonly isAdmitted: boolean;
  readonly window: number;
  readonly used: number;
}

export const noCounter: Counter = { window: -1, known: 0, unsynced: 0 };

export function firstState({ instances, requests, maxFaults }: Model): State {
  const instance: InstanceState = {
    isOnOldPrimary: false,
    isOpen: false,
    outages: 0,
    counter: noCounter,
    syncedOutage: 0,
    seededOutage: 0,
    local: { window: -1, used: 0 },
    calls: [],
  };
  return {
    window: 0,
    requestsLeft: requests,
    faultsLeft: maxFaults,
    redis: { status: "up", window: -1, used: 0 },
    oldPrimary: undefined,
    instances: Array(instances).fill(instance),
    admitted: [0, 0],
    countedWithoutReply: [0, 0],
    perhapsUncounted: [0, 0],
    isDisturbed: [0, 0],
  };
}

/** Instances are interchangeable, so their order does not distinguish states. */
export function keyOf({ instances, ...rest }: State): string {
  const sorted = instances.map((instance) => JSON.stringify(instance)).sort();
  return `${JSON.stringify(rest)}${sorted.join("")}`;
}

export function inWindow(numbers: ByWindow, window: number): number {
  return numbers[window === 0 ? 0 : 1];
}

export function addTo([first, second]: ByWindow, window: number, units: number): ByWindow {
  return window === 0 ? [first + units, second] : [first, second + units];
}

export function withInstance(state: State, index: number, instance: InstanceState): State {
  return { ...state, instances: state.instances.with(index, instance) };
}

export function instanceAt({ instances }: State, index: number): InstanceState {
  const instance = instances[index];
  if (instance === undefined) throw new Error(`there is no instance ${index}`);
  return instance;
}
