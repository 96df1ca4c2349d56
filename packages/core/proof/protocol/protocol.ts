/**
 * The protocol of the instances with Redis. It follows `fallback-quota.ts`, `last-known-counts.ts`, `account-snapshots.ts`,
 * `breaker.ts` and the reserve script, for one account and a cost of 1. An instance has one request in flight at a time.
 */
import {
  addTo,
  type Call,
  type Counter,
  type Executed,
  type InstanceState,
  instanceAt,
  type Model,
  noCounter,
  type State,
  withInstance,
} from "./state.js";

/** `AccountSnapshots.drainUnsynced`. */
export function send({ mistake }: Model, instance: InstanceState): InstanceState {
  const { counter, outages, syncedOutage, calls } = instance;
  const carries = counter.window !== -1 && (syncedOutage !== outages || counter.unsynced > 0);
  const { isOnOldPrimary } = instance;
  const call: Call = { isOnOldPrimary, carried: carries ? counter : undefined, reply: "none", answer: undefined };
  const sent = { ...instance, calls: [...calls, call] };
  if (!carries) return sent;
  if (mistake === "a carried unit stays unsynced") return { ...sent, syncedOutage: outages };
  return { ...sent, syncedOutage: outages, counter: moveToKnown(counter, counter.unsynced) };
}

/** The reserve script. */
export function execute({ limit, mistake }: Model, state: State, index: number, call: Call): State {
  const { window, redis } = state;
  const { carried, answer } = call;
  const primary = primaryOf(state, call) ?? redis;
  let used = primary.window === window ? primary.used : 0;
  if (carried?.window === window) {
    const raised = mistake === "Redis is not raised to the last known count" ? used : Math.max(used, carried.known);
    used = raised + carried.unsynced;
  }
  const isAdmitted = used < limit;
  if (isAdmitted) used += 1;
  const executed: Executed = { isAdmitted, window, used };
  const isOver = answer !== undefined;
  const next = call.isOnOldPrimary
    ? { ...disturb(state, window), oldPrimary: { window, used } }
    : { ...state, redis: { ...redis, window, used } };
  const instance = replaceCall(instanceAt(state, index), call, isOver ? undefined : { ...call, reply: executed });
  return withInstance(isOver ? countWithoutReply(next, executed, answer) : next, index, instance);
}

/** `AccountSnapshots.observe`. */
export function afterReply(state: State, index: number, call: Call, { isAdmitted, window, used }: Executed): State {
  const instance = instanceAt(state, index);
  const { outages } = instance;
  const syncedOutage = instance.counter.window === -1 ? outages : instance.syncedOutage;
  const counter = counterOf(instance, window);
  const known = syncedOutage === outages ? used : Math.max(counter.known, used);
  const admitted = addTo(state.admitted, window, isAdmitted ? 1 : 0);
  const observed = { ...replaceCall(instance, call), syncedOutage, counter: { ...counter, known } };
  return withInstance({ ...state, admitted }, index, observed);
}

/** `AccountSnapshots.restoreUnsynced`, and then a decision without Redis. */
export function afterError(model: Model, state: State, index: number, call: Call): State {
  const opened = openBreaker(replaceCall(instanceAt(state, index), call));
  const { carried } = call;
  if (carried === undefined || model.mistake === "carried units are not restored after an error reply") {
    return decideLocally(model, withInstance(state, index, opened), index);
  }
  const { counter, outages } = opened;
  const restored = counter.window === carried.window ? moveToKnown(counter, -carried.unsynced) : counter;
  const instance = { ...opened, counter: restored, syncedOutage: outages - 1 };
  return decideLocally(model, withInstance(state, index, instance), index);
}

/** The breaker of an instance opens, and its call in flight gets no reply. */
export function disconnect(model: Model, state: State, index: number): State {
  const instance = openBreaker(instanceAt(state, index));
  const awaited = instance.calls.find(({ answer }) => answer === undefined);
  const opened = withInstance(state, index, instance);
  return awaited === undefined ? opened : decideLocally(model, opened, index, awaited);
}

/** The server that a call is sent to; `undefined` if that is an old primary that has become a replica. */
export function primaryOf(
  { redis, oldPrimary }: State,
  { isOnOldPrimary }: Call,
): Omit<State["redis"], "status"> | undefined {
  return isOnOldPrimary ? oldPrimary : redis;
}

/** `LastKnownCounts.decide`. `call` got no reply: Redis may have counted the request. */
export function decideLocally(model: Model, state: State, index: number, call?: Call): State {
  const { limit, instances, mistake } = model;
  const { window } = state;
  const instance = instanceAt(state, index);
  const { outages, seededOutage } = instance;
  const syncedOutage = instance.counter.window === -1 ? outages - 1 : instance.syncedOutage;
  const share = Math.max(1, Math.floor(limit / instances));
  let { local } = instance;
  if (seededOutage !== outages) {
    const { counter } = instance;
    const used = share - Math.floor(Math.max(0, limit - counter.known) / instances) + counter.unsynced;
    local = { window: counter.window, used: mistake === "an outage starts from an unused share" ? 0 : used };
  }
  const usedHere = local.window === window ? local.used : 0;
  const isAdmitted = usedHere < share;
  local = { window, used: usedHere + (isAdmitted ? 1 : 0) };

  let { counter } = instance;
  if (isAdmitted) {
    counter = counterOf(instance, window);
    counter = { ...counter, unsynced: counter.unsynced + 1 };
    if (call !== undefined && mistake !== "a call without a reply counts as not executed") {
      counter = moveToKnown(counter, 1);
    }
  }
  const decided = { ...instance, local, counter, syncedOutage, seededOutage: outages };
  const next: State = {
    ...disturb(state, window),
    admitted: addTo(state.admitted, window, isAdmitted ? 1 : 0),
  };
  if (call === undefined) return withInstance(next, index, decided);
  const { reply, carried } = call;
  const answer = { isAdmitted, window };
  // A known unit only raises Redis, and is never added. If Redis has not counted it, units of other instances may already
  // have raised Redis to that number. Then this unit stays uncounted.
  const isCounted = typeof reply === "object" && reply.isAdmitted && reply.window === window;
  let perhapsUncounted = addTo(next.perhapsUncounted, window, isAdmitted && !isCounted ? 1 : 0);
  if (typeof reply === "object") {
    const counted = countWithoutReply({ ...next, perhapsUncounted }, reply, answer);
    return withInstance(counted, index, replaceCall(decided, call));
  }
  if (carried !== undefined) perhapsUncounted = addTo(perhapsUncounted, carried.window, carried.unsynced);
  return withInstance({ ...next, perhapsUncounted }, index, replaceCall(decided, call, { ...call, answer }));
}

export function disturb(state: State, window: number): State {
  const [first, second] = state.isDisturbed;
  return { ...state, isDisturbed: window === 0 ? [1, second] : [first, 1] };
}

/** Without a replacement the call is over. */
export function replaceCall(instance: InstanceState, call: Call, replacement?: Call): InstanceState {
  const calls = instance.calls.flatMap((one) => (one === call ? (replacement ?? []) : one));
  return { ...instance, calls };
}

/** Redis has counted a request that the instance, without the reply, refused or admitted in another window. */
function countWithoutReply(state: State, executed: Executed, answer: { isAdmitted: boolean; window: number }): State {
  if (!executed.isAdmitted || (answer.isAdmitted && answer.window === executed.window)) return state;
  return { ...state, countedWithoutReply: addTo(state.countedWithoutReply, executed.window, 1) };
}

function openBreaker(instance: InstanceState): InstanceState {
  return instance.isOpen ? instance : { ...instance, isOpen: true, outages: instance.outages + 1 };
}

function counterOf({ counter }: InstanceState, window: number): Counter {
  return counter.window === window ? counter : { ...noCounter, window };
}

function moveToKnown({ window, known, unsynced }: Counter, units: number): Counter {
  return { window, known: known + units, unsynced: unsynced - units };
}
