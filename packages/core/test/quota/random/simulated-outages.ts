/**
 * Instances that share an account during outages of Redis. The code of the instances is real. Redis and the
 * connections are simulated, so that a test chooses the order of requests, replies and faults.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import { createLocalQuota, type LocalQuota } from "../../../src/quota/engines/local-quota.js";
import type { WindowCounter } from "../../../src/quota/engines/reserve-script.js";
import { minuteMs, type UsedUnits, type Windows } from "../../../src/quota/window.js";
import { noon } from "../caller.js";
import { type Call, type Instance, openInstance, type Plant } from "./simulated-instance.js";

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
   * it, until it becomes a replica.
   */
  | "two primaries"
  /** The connection of one instance breaks. Redis may have received its calls. */
  | "cut";

export interface Outages {
  readonly instances: number;
  /** The limit of the minute. The limit of the day is twice this number. */
  readonly limit: number;
  readonly faults: readonly Fault[];
  /** How many faults happen, at most. */
  readonly maxFaults: number;
}

export interface Simulation {
  readonly instances: readonly Instance[];
  /** The units that Redis counts now. */
  counted(): Windows;
  /** True if an instance decided alone in the window with this end, or if Redis may have lost units of it. */
  isDisturbed(resetAtMs: number): boolean;
  /** Takes one of the steps that are possible now. */
  takeStep(choice: number): Promise<void>;
  /** Ends all faults. Then each instance gets a request, with which it shares its counts with Redis again. */
  end(): Promise<void>;
}

/** `choice` is any number. */
type Step = (choice: number) => void;

export function simulateOutages({ instances: size, limit, faults, maxFaults }: Outages, plant: Plant): Simulation {
  const reservation = { account: "shared", limits: { perMinute: limit, perDay: 2 * limit }, cost: 1 };
  let nowMs = noon;
  const now = () => nowMs;
  let status: "up" | "paused" | "read-only" | "down" = "up";
  let primary = createLocalQuota({ now });
  let oldPrimary: LocalQuota | undefined;
  let faultsLeft = maxFaults;
  const disturbed = new Set<number>();
  const instances = Array.from({ length: size }, () =>
    openInstance({ now, instances: size, reservation, primary, plant }),
  );

  function* possibleSteps(): Generator<Step> {
    for (const instance of instances) {
      const [awaited] = instance.awaited();
      const unexecuted = instance.unexecuted();
      const [next] = unexecuted;
      yield instance.receive;
      if (awaited?.executed !== undefined) yield () => reply(awaited);
      else if (awaited !== undefined && status === "read-only") yield () => instance.refuse(awaited);
      if (awaited !== undefined && status === "paused") yield instance.disconnect;
      if (next !== undefined && status === "up") yield () => execute(next);
      if (next !== undefined && next !== awaited && faults.includes("cut")) yield () => lose(next);
      // Redis has read the calls on the old connection before it answers a probe on a new one.
      const isRead = unexecuted.every((call) => call.primary !== primary);
      if (instance.isOpen() && status === "up" && isRead) yield instance.answerProbe;
      if (instance.primary !== primary) yield () => leaveOldPrimary(instance);
      if (!instance.isOpen()) yield* ifPossible("cut", instance.disconnect);
    }
    yield beginNextMinute;
    if (oldPrimary !== undefined) yield demote;
    if (status !== "up") yield () => become("up");
    if (status === "down" && faults.includes("lose data")) yield restartWithLoss;
    if (status !== "up") return;
    yield* ifPossible("kill", kill);
    yield* ifPossible("pause", () => become("paused"));
    yield* ifPossible("read-only", () => become("read-only"));
    yield* ifPossible("two primaries", promote);
  }

  function* ifPossible(fault: Fault, happen: Step): Generator<Step> {
    if (faultsLeft === 0 || !faults.includes(fault)) return;
    yield (choice) => {
      faultsLeft -= 1;
      happen(choice);
    };
  }

  function beginNextMinute(): void {
    nowMs = noon + minuteMs;
  }

  function become(next: typeof status): void {
    status = next;
  }

  /** Does what the reserve script does. */
  function execute(call: Call): void {
    const { unsynced } = call;
    if (unsynced !== undefined) {
      const { minute, day } = stateOf(call.primary);
      const raised = { minute: raise(minute, unsynced.minute), day: raise(day, unsynced.day) };
      call.primary.seed(reservation.account, raised, new Map());
    }
    call.executed = { ...call.primary.decide(reservation, reservation.limits), mode: "shared" };
    if (call.primary === oldPrimary) disturb(call.executed);
  }

  function reply({ executed, resolve }: Call): void {
    if (executed !== undefined) resolve([executed]);
  }

  function lose(call: Call): void {
    call.isLost = true;
  }

  function kill(): void {
    status = "down";
    for (const instance of instances) {
      instance.disconnect();
      instance.unexecuted().forEach(lose);
    }
  }

  function restartWithLoss(choice: number): void {
    status = "up";
    seedWithLoss(primary, choice);
  }

  /** The instances do not know of it yet. */
  function promote(choice: number): void {
    oldPrimary = primary;
    primary = createLocalQuota({ now });
    seedWithLoss(oldPrimary, choice);
  }

  /** Some of the units that were counted are missing in the primary. */
  function seedWithLoss(counting: LocalQuota, choice: number): void {
    const { minute, day } = stateOf(counting);
    const lost = choice % (minute.used + 1);
    const left = { minute: { ...minute, used: minute.used - lost }, day: { ...day, used: day.used - lost } };
    primary.seed(reservation.account, left, new Map());
    disturb({ minute, day });
  }

  /** The instance received `+switch-master`, or its connection broke. The old primary may still execute its calls. */
  function leaveOldPrimary(instance: Instance): void {
    instance.primary = primary;
    instance.disconnect();
  }

  /** The old primary ends its connections, and executes nothing any more. */
  function demote(): void {
    for (const instance of instances) {
      if (instance.primary === oldPrimary) leaveOldPrimary(instance);
      for (const call of instance.unexecuted()) if (call.primary === oldPrimary) lose(call);
    }
    oldPrimary = undefined;
  }

  function disturb({ minute, day }: Pick<Windows, "minute" | "day">): void {
    disturbed.add(minute.resetAtMs).add(day.resetAtMs);
  }

  /** A cost of 0 changes nothing. */
  function stateOf(one: LocalQuota): Windows {
    return one.decide({ ...reservation, cost: 0 }, reservation.limits);
  }

  async function answerAll(instance: Instance): Promise<void> {
    instance.unexecuted().forEach(execute);
    instance.awaited().forEach(reply);
    await nextTick();
  }

  return {
    instances,
    counted: () => stateOf(primary),
    isDisturbed(resetAtMs) {
      for (const { requests } of instances) {
        for (const { answer } of requests) if (answer?.mode === "fallback") disturb(answer);
      }
      return disturbed.has(resetAtMs);
    },
    async takeStep(choice) {
      const steps = [...possibleSteps()];
      steps[choice % steps.length]?.(Math.floor(choice / steps.length));
      await nextTick();
    },
    async end() {
      become("up");
      demote();
      for (const instance of instances) {
        await answerAll(instance);
        instance.answerProbe();
        await nextTick();
        instance.receive();
        await nextTick();
        await answerAll(instance);
      }
    },
  };
}

function raise({ used, resetAtMs }: UsedUnits, counter: WindowCounter): UsedUnits {
  if (counter.resetAtMs !== resetAtMs) return { used, resetAtMs };
  return { used: Math.max(used, counter.lastKnownUsed) + counter.unsyncedUnits, resetAtMs };
}
