/**
 * The protocol of the instances with Redis. It follows `fallback-quota.ts`, `last-known-counts.ts`, `account-snapshots.ts`,
 * `breaker.ts` and the reserve script, for one account and a cost of 1. An instance has one request in flight at a time.
 * Each function changes the state and the instance, which is one of that state.
 */
import type { Call, Counter, Executed, Instance, Model, State, Window } from "./state.js";

/** `AccountSnapshots.drainUnsynced`. */
export function send({ mistake }: Model, instance: Instance): void {
  const { counter, outages, syncedOutage, isOnOldPrimary } = instance;
  const carried = counter && (syncedOutage !== outages || counter.unsynced > 0) ? counter : undefined;
  instance.calls = [...instance.calls, { isOnOldPrimary, carried, reply: "none", answer: undefined }];
  if (carried === undefined) return;
  instance.syncedOutage = outages;
  if (mistake !== "a carried unit stays unsynced") instance.counter = moveToKnown(carried, carried.unsynced);
}

/** The reserve script. */
export function execute({ limit, mistake }: Model, state: State, instance: Instance, call: Call): void {
  const { window } = state;
  const { carried, answer } = call;
  const primary = primaryOf(state, call) ?? state.redis;
  let used = primary.window === window ? primary.used : 0;
  if (carried?.window === window) {
    const raised = mistake === "Redis is not raised to the last known count" ? used : Math.max(used, carried.known);
    used = raised + carried.unsynced;
  }
  const isAdmitted = used < limit;
  if (isAdmitted) used += 1;
  Object.assign(primary, { window, used });
  if (call.isOnOldPrimary) state.countsByWindow[window].isDisturbed = true;
  const reply: Executed = { isAdmitted, window, used };
  if (answer !== undefined) countWithoutReply(state, reply, answer);
  replaceCall(instance, call, answer === undefined ? { ...call, reply } : undefined);
}

/** `AccountSnapshots.observe`. */
export function afterReply(state: State, instance: Instance, call: Call, { isAdmitted, window, used }: Executed): void {
  if (instance.counter === undefined) instance.syncedOutage = instance.outages;
  const counter = counterOf(instance, window);
  const isExact = instance.syncedOutage === instance.outages;
  instance.counter = { ...counter, known: isExact ? used : Math.max(counter.known, used) };
  if (isAdmitted) state.countsByWindow[window].admitted += 1;
  replaceCall(instance, call);
}

/** `AccountSnapshots.restoreUnsynced`, and then a decision without Redis. */
export function afterError(model: Model, state: State, instance: Instance, call: Call): void {
  replaceCall(instance, call);
  openBreaker(instance);
  const { carried } = call;
  if (carried !== undefined && model.mistake !== "carried units are not restored after an error reply") {
    const { counter } = instance;
    if (counter?.window === carried.window) instance.counter = moveToKnown(counter, -carried.unsynced);
    instance.syncedOutage = instance.outages - 1;
  }
  decideLocally(model, state, instance);
}

/** The breaker of an instance opens, and its call in flight gets no reply. */
export function disconnect(model: Model, state: State, instance: Instance): void {
  openBreaker(instance);
  const awaited = instance.calls.find(({ answer }) => answer === undefined);
  if (awaited !== undefined) decideLocally(model, state, instance, awaited);
}

/** The server that a call is sent to; `undefined` if that is an old primary that has become a replica. */
export function primaryOf({ redis, oldPrimary }: State, { isOnOldPrimary }: Call): State["oldPrimary"] {
  return isOnOldPrimary ? oldPrimary : redis;
}

/** `LastKnownCounts.decide`. `call` got no reply: Redis may have counted the request. */
export function decideLocally(model: Model, state: State, instance: Instance, call?: Call): void {
  const { limit, instances, mistake } = model;
  const { window } = state;
  const counts = state.countsByWindow[window];
  const { outages } = instance;
  if (instance.counter === undefined) instance.syncedOutage = outages - 1;
  const share = Math.max(1, Math.floor(limit / instances));
  if (instance.seededOutage !== outages) {
    const { known = 0, unsynced = 0 } = instance.counter ?? {};
    const used = share - Math.floor(Math.max(0, limit - known) / instances) + unsynced;
    const isMistaken = mistake === "an outage starts from an unused share";
    instance.local = { window: instance.counter?.window, used: isMistaken ? 0 : used };
    instance.seededOutage = outages;
  }
  const usedHere = instance.local?.window === window ? instance.local.used : 0;
  const isAdmitted = usedHere < share;
  instance.local = { window, used: usedHere + (isAdmitted ? 1 : 0) };
  counts.isDisturbed = true;
  if (isAdmitted) {
    counts.admitted += 1;
    const counter = counterOf(instance, window);
    const mayBeExecuted = call !== undefined && mistake !== "a call without a reply counts as not executed";
    instance.counter = moveToKnown({ ...counter, unsynced: counter.unsynced + 1 }, mayBeExecuted ? 1 : 0);
  }
  if (call === undefined) return;
  const { reply, carried } = call;
  const answer = { isAdmitted, window };
  // A known unit only raises Redis, and is never added. If Redis has not counted it, units of other instances may already
  // have raised Redis to that number. Then this unit stays uncounted.
  const isCounted = typeof reply === "object" && reply.isAdmitted && reply.window === window;
  if (isAdmitted && !isCounted) counts.perhapsUncounted += 1;
  if (typeof reply === "object") countWithoutReply(state, reply, answer);
  else if (carried !== undefined) state.countsByWindow[carried.window].perhapsUncounted += carried.unsynced;
  replaceCall(instance, call, typeof reply === "object" ? undefined : { ...call, answer });
}

/** Without a replacement the call is over. */
export function replaceCall(instance: Instance, call: Call, replacement?: Call): void {
  instance.calls = instance.calls.flatMap((one) => (one === call ? (replacement ?? []) : one));
}

/** Redis has counted a request that the instance, without the reply, refused or admitted in another window. */
function countWithoutReply(state: State, executed: Executed, answer: { isAdmitted: boolean; window: Window }): void {
  const isAnswered = answer.isAdmitted && answer.window === executed.window;
  if (executed.isAdmitted && !isAnswered) state.countsByWindow[executed.window].countedWithoutReply += 1;
}

function openBreaker(instance: Instance): void {
  if (!instance.isOpen) instance.outages += 1;
  instance.isOpen = true;
}

function counterOf({ counter }: Instance, window: Window): Counter {
  return counter?.window === window ? counter : { window, known: 0, unsynced: 0 };
}

function moveToKnown({ window, known, unsynced }: Counter, units: number): Counter {
  return { window, known: known + units, unsynced: unsynced - units };
}
