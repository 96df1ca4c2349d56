import {
  afterError,
  afterReply,
  decideLocally,
  disconnect,
  execute,
  primaryOf,
  replaceCall,
  send,
} from "./protocol.js";
import { copyOf, type Fault, type Instance, type Model, type State } from "./state.js";

export interface Step {
  readonly name: string;
  readonly next: State;
}

/** Every step that a state allows: those of the protocol, and the faults. */
export function stepsFrom(model: Model, state: State): Step[] {
  const { redis, oldPrimary } = state;
  const steps: Step[] = [];

  function add(name: string, change: (next: State) => void): void {
    const next = copyOf(state);
    change(next);
    steps.push({ name, next });
  }

  function addFault(fault: Fault, name: string, change: (next: State) => void): void {
    if (state.faultsLeft === 0 || !model.faults.includes(fault)) return;
    add(name, (next) => {
      next.faultsLeft -= 1;
      change(next);
    });
  }

  const become = (status: State["redis"]["status"]) => (next: State) => {
    next.redis.status = status;
  };

  for (const [index, instance] of state.instances.entries()) addStepsOf(instance, index);
  if (redis.status === "up") {
    addFault("kill", "Redis is killed", (next) => kill(model, next));
    addFault("pause", "Redis pauses", become("paused"));
    addFault("read-only", "Redis becomes read-only", become("read-only"));
    for (let used = 0; used <= redis.used && oldPrimary === undefined; used += 1) {
      addFault("two primaries", `a replica with ${used} units is promoted`, (next) => promote(next, used));
    }
  } else {
    add("Redis is up", become("up"));
  }
  if (oldPrimary !== undefined) add("the old primary becomes a replica", (next) => demote(model, next));
  if (redis.status === "down" && model.faults.includes("lose data")) {
    for (let used = 0; used < redis.used; used += 1) {
      add(`Redis is up with ${used} units`, (next) => {
        next.countsByWindow[redis.window].isDisturbed = true;
        next.redis = { ...redis, status: "up", used };
      });
    }
  }
  if (state.window + 1 < model.windows) {
    add("the next window begins", (next) => {
      next.window = 1;
    });
  }
  return steps;

  function addStepsOf({ calls, isOpen, isOnOldPrimary }: Instance, index: number): void {
    const inNext = (change: (next: State, instance: Instance) => void) => (next: State) =>
      change(next, next.instances[index] as Instance);
    const addHere = (name: string, change: (next: State, instance: Instance) => void) =>
      add(`${index}: ${name}`, inNext(change));
    const awaited = calls.find(({ answer }) => answer === undefined);

    if (state.requestsLeft > 0 && awaited === undefined) {
      addHere(isOpen ? "request, decided locally" : "request, sent to Redis", (next, instance) => {
        next.requestsLeft -= 1;
        if (isOpen) decideLocally(model, next, instance);
        else send(model, instance);
      });
    }
    for (const call of calls) {
      if (call.reply === "none" && redis.status === "up" && primaryOf(state, call) !== undefined) {
        addHere("Redis executes the call", (next, instance) => execute(model, next, instance, call));
      }
      if (call.answer !== undefined && model.faults.includes("cut")) {
        addHere("the call is lost", (_, instance) => replaceCall(instance, call));
      }
    }
    if (awaited !== undefined) {
      const { reply } = awaited;
      if (reply === "none" && redis.status === "read-only") {
        addHere("Redis refuses the call", (_, instance) =>
          replaceCall(instance, awaited, { ...awaited, reply: "error" }),
        );
      } else if (reply === "error") {
        addHere("error reply", (next, instance) => afterError(model, next, instance, awaited));
      } else if (reply !== "none") {
        addHere("reply", (next, instance) => afterReply(next, instance, awaited, reply));
      }
      if (redis.status === "paused") addHere("deadline", (next, instance) => disconnect(model, next, instance));
    }
    // Redis has read the calls on the old connection before it answers a probe on a new one.
    const isAbandonedPending = calls.some(({ answer, isOnOldPrimary }) => answer !== undefined && !isOnOldPrimary);
    if (isOpen && !isAbandonedPending && redis.status === "up") {
      addHere("probe succeeds", (_, instance) => {
        instance.isOpen = false;
      });
    }
    if (isOnOldPrimary) addHere("leaves the old primary", (next, instance) => leaveOldPrimary(model, next, instance));
    if (!isOpen) {
      const disconnectHere = inNext((next, instance) => disconnect(model, next, instance));
      addFault("cut", `${index}: the connection breaks`, disconnectHere);
    }
  }
}

function kill(model: Model, state: State): void {
  state.redis.status = "down";
  for (const instance of state.instances) {
    disconnect(model, state, instance);
    instance.calls = [];
  }
}

/** The instances do not know of it yet. */
function promote(state: State, used: number): void {
  const { redis, instances } = state;
  for (const instance of instances) {
    instance.isOnOldPrimary = true;
    instance.calls = instance.calls.map((call) => ({ ...call, isOnOldPrimary: true }));
  }
  state.oldPrimary = { window: redis.window, used: redis.used };
  redis.used = used;
  state.countsByWindow[state.window].isDisturbed = true;
}

/** The instance received `+switch-master`, or its connection broke. The old primary may still execute a call without a reply. */
function leaveOldPrimary(model: Model, state: State, instance: Instance): void {
  instance.isOnOldPrimary = false;
  const isMistaken = model.mistake === "an instance changes the primary without an outage";
  if (!isMistaken || instance.calls.length > 0) disconnect(model, state, instance);
}

/** The old primary ends its connections, forgets its units, and executes nothing any more. */
function demote(model: Model, state: State): void {
  state.oldPrimary = undefined;
  for (const instance of state.instances) {
    if (instance.isOnOldPrimary) leaveOldPrimary(model, state, instance);
    instance.calls = instance.calls.filter(({ isOnOldPrimary }) => !isOnOldPrimary);
  }
}
