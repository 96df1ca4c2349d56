/** Every step that a state allows: those of the protocol, and the faults. */
import {
  afterError,
  afterReply,
  decideLocally,
  disconnect,
  disturb,
  execute,
  primaryOf,
  replaceCall,
  send,
} from "./protocol.js";
import { type Call, instanceAt, type Model, type State, withInstance } from "./state.js";

export interface Step {
  readonly name: string;
  readonly next: State;
}

export function* steps(model: Model, state: State): Generator<Step> {
  for (const index of state.instances.keys()) {
    for (const { name, next } of stepsOfInstance(model, state, index)) yield { name: `${index}: ${name}`, next };
  }
  yield* stepsOfRedis(model, state);
  if (state.window + 1 < model.windows) yield { name: "the next window begins", next: { ...state, window: 1 } };
}

function* stepsOfInstance(model: Model, state: State, index: number): Generator<Step> {
  const { redis, requestsLeft, faultsLeft } = state;
  const instance = instanceAt(state, index);
  const { calls, isOpen, isOnOldPrimary } = instance;
  const awaited = calls.find(({ answer }) => answer === undefined);
  const isAbandonedPending = calls.some((call) => call.answer !== undefined && !call.isOnOldPrimary);
  if (requestsLeft > 0 && awaited === undefined) {
    const counted = { ...state, requestsLeft: requestsLeft - 1 };
    yield isOpen
      ? { name: "request, decided locally", next: decideLocally(model, counted, index) }
      : { name: "request, sent to Redis", next: withInstance(counted, index, send(model, instance)) };
  }
  for (const call of calls) {
    if (call.reply === "none" && redis.status === "up" && primaryOf(state, call) !== undefined) {
      yield { name: "Redis executes the call", next: execute(model, state, index, call) };
    }
    if (call.answer !== undefined && model.faults.includes("cut")) {
      yield { name: "the call is lost", next: withInstance(state, index, replaceCall(instance, call)) };
    }
  }
  if (awaited !== undefined) {
    if (awaited.reply === "none" && redis.status === "read-only") {
      const refused: Call = { ...awaited, reply: "error" };
      yield {
        name: "Redis refuses the call",
        next: withInstance(state, index, replaceCall(instance, awaited, refused)),
      };
    }
    if (awaited.reply === "error") yield { name: "error reply", next: afterError(model, state, index, awaited) };
    else if (awaited.reply !== "none") {
      yield { name: "reply", next: afterReply(state, index, awaited, awaited.reply) };
    }
    if (redis.status === "paused") yield { name: "deadline", next: disconnect(model, state, index) };
  }
  // Redis has read the calls on the old connection before it answers a probe on a new one.
  if (isOpen && !isAbandonedPending && redis.status === "up") {
    yield { name: "probe succeeds", next: withInstance(state, index, { ...instance, isOpen: false }) };
  }
  if (isOnOldPrimary) yield { name: "leaves the old primary", next: leaveOldPrimary(model, state, index) };
  if (faultsLeft > 0 && !isOpen && model.faults.includes("cut")) {
    const next = disconnect(model, { ...state, faultsLeft: faultsLeft - 1 }, index);
    yield { name: "the connection breaks", next };
  }
}

function* stepsOfRedis(model: Model, state: State): Generator<Step> {
  const { redis, faultsLeft } = state;
  const { faults } = model;
  if (redis.status === "up" && faultsLeft > 0) {
    const after = { ...state, faultsLeft: faultsLeft - 1 };
    if (faults.includes("kill")) yield { name: "Redis is killed", next: kill(model, after) };
    if (faults.includes("pause")) {
      yield { name: "Redis pauses", next: { ...after, redis: { ...redis, status: "paused" } } };
    }
    if (faults.includes("read-only")) {
      yield { name: "Redis becomes read-only", next: { ...after, redis: { ...redis, status: "read-only" } } };
    }
  }
  if (state.oldPrimary !== undefined) {
    yield { name: "the old primary becomes a replica", next: demote(model, state) };
  } else if (redis.status === "up" && faultsLeft > 0 && faults.includes("two primaries")) {
    for (let used = 0; used <= redis.used; used += 1) {
      const next = promote({ ...state, faultsLeft: faultsLeft - 1 }, used);
      yield { name: `a replica with ${used} units is promoted`, next };
    }
  }
  if (redis.status !== "up") yield { name: "Redis is up", next: { ...state, redis: { ...redis, status: "up" } } };
  if (redis.status === "down" && faults.includes("lose data")) {
    for (let used = 0; used < redis.used; used += 1) {
      const next: State = { ...disturb(state, redis.window), redis: { ...redis, status: "up", used } };
      yield { name: `Redis is up with ${used} units`, next };
    }
  }
}

function kill(model: Model, state: State): State {
  let next: State = { ...state, redis: { ...state.redis, status: "down" } };
  for (const index of state.instances.keys()) {
    next = disconnect(model, next, index);
    next = withInstance(next, index, { ...instanceAt(next, index), calls: [] });
  }
  return next;
}

/** The instances do not know of it yet. */
function promote(state: State, used: number): State {
  const { redis, window } = state;
  const instances = state.instances.map((instance) => {
    const calls = instance.calls.map((call) => ({ ...call, isOnOldPrimary: true }));
    return { ...instance, isOnOldPrimary: true, calls };
  });
  const oldPrimary = { window: redis.window, used: redis.used };
  return { ...disturb(state, window), redis: { ...redis, used }, oldPrimary, instances };
}

/** The instance received `+switch-master`, or its connection broke. The old primary may still execute a call without a reply. */
function leaveOldPrimary(model: Model, state: State, index: number): State {
  const instance = { ...instanceAt(state, index), isOnOldPrimary: false };
  const isMistaken = model.mistake === "an instance changes the primary without an outage";
  if (isMistaken && instance.calls.length === 0) return withInstance(state, index, instance);
  return disconnect(model, withInstance(state, index, instance), index);
}

/** The old primary ends its connections, forgets its units, and executes nothing any more. */
function demote(model: Model, state: State): State {
  let next: State = { ...state, oldPrimary: undefined };
  for (const index of state.instances.keys()) {
    if (instanceAt(next, index).isOnOldPrimary) next = leaveOldPrimary(model, next, index);
    const instance = instanceAt(next, index);
    const calls = instance.calls.filter(({ isOnOldPrimary }) => !isOnOldPrimary);
    next = withInstance(next, index, { ...instance, calls });
  }
  return next;
}
