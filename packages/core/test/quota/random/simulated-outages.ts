/**
 * Instances that share an account during outages of Redis. The code of the instances is real. Redis and the connections are
 * simulated, so that a test chooses the order of requests and faults.
 */
import { EventEmitter, once } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import { ReplyError } from "ioredis";
import { vi } from "vitest";
import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import type { AccountCounts, WindowCounts } from "../../../src/quota/engines/account-counts.js";
import { createBreakers } from "../../../src/quota/engines/fallback/breakers.js";
import { createFallbackQuota } from "../../../src/quota/engines/fallback/fallback-quota.js";
import { createLastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import { createLocalQuota, type LocalQuota } from "../../../src/quota/engines/local-quota.js";
import type { Shard } from "../../../src/quota/engines/shards.js";
import { minuteMs, type UsedUnits, type Windows } from "../../../src/quota/window.js";
import { silentLog } from "../../logs.js";
import { noon } from "../caller.js";

export type Fault =
  /** Redis restarts with its data. All connections break, and it never executes the calls that it has not executed. */
  | "kill"
  /** As `kill`, but Redis lacks units, as an empty Redis or a promoted replica does. */
  | "lose data"
  /** Redis refuses a call with an error reply. */
  | "read-only"
  /** A call gets no reply, because Redis pauses or the connection breaks. Redis executes the call later or never. */
  | "no reply"
  /** A replica that may lack units becomes the primary. The old primary counts for each instance that has not left it. */
  | "two primaries"
  /**
   * The slot of the account moves to the other shard of a cluster, with its data. An instance learns it later. Until then, the
   * nodes redirect its calls.
   */
  | "move"
  /** Redis refuses a call with an error reply. Before the reply, the slot moves, and the instance learns it. */
  | "move before refusal"
  /** An instance loses its connection to the shard that does not have the account, to which the slot may then move. */
  | "other shard lost";

export interface Outages {
  readonly instances: number;
  /** The limit of the minute is this number for each instance. The limit of the day is twice as high. */
  readonly unitsEach: number;
  readonly faults: readonly Fault[];
  /** How many faults happen, at most. */
  readonly maxFaults: number;
}

/** A reservation of one unit, or its extension to `extendedCost` units. */
export interface Request {
  /** The admission that an extension extends. */
  readonly receipt?: Admitted | undefined;
  /** The decision that the client got. */
  answer?: Decision;
  /** The call to Redis, unless Redis has refused it. */
  call?: Call;
}

interface Call {
  readonly cost: number;
  readonly receipt: Windows | undefined;
  readonly report: AccountCounts | undefined;
  /** The decision of Redis. */
  executed?: Decision;
  /** True if Redis will never execute it. */
  isLost?: boolean;
}

/** The units that a decision about a request added to the window that ends at `resetAtMs`. */
export function unitsIn(
  window: "minute" | "day",
  resetAtMs: number,
  { receipt }: Request,
  decision: Decision | undefined,
): number {
  if (decision?.outcome !== "admitted" || decision[window].resetAtMs !== resetAtMs) return 0;
  if (receipt === undefined) return 1;
  return extendedCost - (receipt[window].resetAtMs === resetAtMs ? 1 : 0);
}

const extendedCost = 2;

/** `choice` is any number. */
type Step = (choice: number) => unknown;

export type Simulation = ReturnType<typeof simulateOutages>;

export function simulateOutages({ instances: size, unitsEach, faults, maxFaults }: Outages) {
  const reservation = {
    account: "shared",
    limits: { perMinute: unitsEach * size, perDay: 2 * unitsEach * size },
    cost: 1,
  };
  let nowMs = noon;
  const now = () => nowMs;
  let primary = createLocalQuota({ now });
  /** The shard that has the slot of the account. */
  let owner: ShardName = "one";
  let faultsLeft = maxFaults;
  let callsInOutages = 0;
  const instances = Array.from({ length: size }, () => openInstance(primary));

  function openInstance(redis: LocalQuota) {
    const shards = openShards();
    const breakers = createBreakers({
      shards,
      probe: (name) => once(shards.connections, `${name} probed`),
      deadlineMs: 2 ** 31 - 1,
      now,
      log: silentLog,
    });
    const { lastOutageOf } = breakers;
    // A lot is never drawn: the share of each instance is one unit at least.
    const drawLot = () => 0;
    const counts = createLastKnownCounts({ now, banPolicy: defaultBanPolicy, instances: size, drawLot, lastOutageOf });
    const requests: Request[] = [];
    /** The fault of the next call. */
    let fault: Fault | undefined;
    const quota = createFallbackQuota({
      redisQuota: {
        ...createLocalQuota({ now }),
        async decide({ cost }, { report, receipt }) {
          if (!breakers.canCall(reservation.account)) callsInOutages += 1;
          if (fault === "move before refusal") {
            move();
            shards.follow(owner);
          }
          if (fault === "read-only" || fault === "move before refusal") throw new ReplyError("READONLY");
          const call: Call = { report, cost, receipt };
          Object.assign(requests.at(-1) ?? {}, { call });
          if (fault === "no reply") throw new Error(fault);
          return [execute(call, instance.redis)];
        },
      },
      breakers,
      counts,
      failureMode: "local",
    });

    const instance = {
      /** The Redis that it is connected to. */
      redis,
      shards,
      requests,
      canCall: () => breakers.canCall(reservation.account),
      isOpen: (name: string) => breakers.states().some((state) => state.name === name && !state.isShared),
      async receive(nextFault?: Fault) {
        const request: Request = {};
        requests.push(request);
        fault = nextFault;
        request.answer = await quota.reserve(reservation);
      },
      async extend(receipt: Admitted, nextFault?: Fault) {
        const request: Request = { receipt };
        requests.push(request);
        fault = nextFault;
        request.answer = await quota.extend({ ...reservation, cost: extendedCost, receipt });
      },
      /** The last admission that was not extended. */
      extensible(): Admitted | undefined {
        const extended = requests.map(({ receipt }) => receipt);
        const admissions = requests.flatMap(({ answer, receipt }) =>
          answer?.outcome === "admitted" && receipt === undefined ? [answer] : [],
        );
        return admissions.findLast((admission) => !extended.includes(admission));
      },
      /**
       * The call that Redis may still execute. There is one at most, because the breaker is open until it is executed or lost, and
       * a move of the slot ends it.
       */
      late: () => requests.find(({ call }) => call && !call.executed && !call.isLost)?.call,
    };
    return instance;
  }

  type Instance = ReturnType<typeof openInstance>;

  function possibleSteps(): Step[] {
    const steps: Step[] = [
      () => {
        nowMs = noon + minuteMs;
      },
    ];
    function addFault(fault: Fault, happen: Step): void {
      if (faultsLeft === 0 || !faults.includes(fault)) return;
      steps.push((choice) => {
        faultsLeft -= 1;
        return happen(choice);
      });
    }
    for (const instance of instances) {
      steps.push(() => instance.receive());
      const extensible = instance.extensible();
      if (extensible !== undefined) steps.push(() => instance.extend(extensible));
      const late = instance.late();
      if (late !== undefined)
        steps.push(
          () => execute(late, instance.redis),
          () => lose(late),
        );
      if (instance.redis !== primary) steps.push(() => reconnect(instance));
      if (instance.shards.current() !== owner && late === undefined) steps.push(() => instance.shards.follow(owner));
      addFault("other shard lost", () => instance.shards.lose(instance.shards.other()));
      const other = instance.shards.other();
      if (instance.isOpen(other)) steps.push(() => answerProbe(instance, other));
      if (instance.canCall()) {
        addFault("read-only", () => instance.receive("read-only"));
        addFault("no reply", () => instance.receive("no reply"));
        addFault("move before refusal", () => instance.receive("move before refusal"));
        if (extensible !== undefined) {
          addFault("read-only", () => instance.extend(extensible, "read-only"));
          addFault("no reply", () => instance.extend(extensible, "no reply"));
        }
      } else if (late === undefined) steps.push(() => answerProbe(instance));
    }
    addFault("move", move);
    addFault("kill", () => instances.forEach(reconnect));
    addFault("two primaries", promote);
    addFault("lose data", (choice) => {
      promote(choice);
      instances.forEach(reconnect);
    });
    return steps;
  }

  /** Does what the reserve script does. */
  function execute(call: Call, redis: LocalQuota): Decision {
    const { report, cost, receipt } = call;
    if (report !== undefined) {
      const { minute, day } = stateOf(redis);
      const raised = { minute: raise(minute, report.minute), day: raise(day, report.day) };
      redis.seed(reservation.account, raised);
    }
    call.executed = { ...redis.decide({ ...reservation, cost }, reservation.limits, receipt), mode: "shared" };
    return call.executed;
  }

  function lose(call: Call): void {
    call.isLost = true;
  }

  /** Probes are sent at an interval. */
  function answerProbe({ shards }: Instance, name = shards.current()): void {
    vi.advanceTimersByTime(1_000);
    shards.connections.emit(`${name} probed`);
  }

  /** The old owner redirects the calls that it has not executed, but nobody waits for their replies. */
  function move(): void {
    owner = otherThan(owner);
    for (const instance of instances) {
      const late = instance.late();
      if (late !== undefined) lose(late);
    }
  }

  function reconnect(instance: Instance): void {
    instance.redis = primary;
    const late = instance.late();
    if (late !== undefined) lose(late);
    instance.shards.lose(owner);
  }

  /** The new primary lacks some of the units. The instances do not know of it yet. */
  function promote(choice: number): void {
    const { minute, day } = stateOf(primary);
    const lost = choice % (minute.used + 1);
    const left = { minute: { ...minute, used: minute.used - lost }, day: { ...day, used: day.used - lost } };
    primary = createLocalQuota({ now });
    primary.seed(reservation.account, left);
  }

  /** A cost of 0 changes nothing. */
  function stateOf(redis: LocalQuota): Windows {
    return redis.decide({ ...reservation, cost: 0 }, reservation.limits);
  }

  return {
    /** The requests of each instance. */
    requests: instances.map(({ requests }) => requests),
    /** The calls to Redis that an instance made while its breaker was open. */
    callsInOutages: () => callsInOutages,
    /** The units that Redis counts now. */
    counted: () => stateOf(primary),
    /** Takes one of the steps that are possible now. */
    async takeStep(choice: number) {
      const steps = possibleSteps();
      await steps[choice % steps.length]?.(Math.floor(choice / steps.length));
      await nextTick();
    },
    /** Ends all faults. Then each instance gets a request, with which it shares its counts with Redis again. */
    async end() {
      for (const instance of instances) {
        if (instance.redis !== primary) reconnect(instance);
        const late = instance.late();
        if (late !== undefined) execute(late, instance.redis);
        instance.shards.follow(owner);
        answerProbe(instance);
        await nextTick();
        await instance.receive();
      }
    },
  };
}

type ShardName = "one" | "two";

function otherThan(name: ShardName): ShardName {
  return name === "one" ? "two" : "one";
}

/** The shards as one instance sees them. Only the slot of the account counts. A probe is about an account with the name of its shard. */
function openShards() {
  const connections = new EventEmitter();
  let current: ShardName = "one";
  const shardOf = (name: ShardName): Shard => ({
    name: () => name,
    address: () => undefined,
    isReady: () => true,
    onLoss: (listener) => void connections.on(`${name} lost`, listener),
    connectError: () => undefined,
    connect() {},
    reconnect() {},
    accountToProbe: () => name,
  });
  const shards = { one: shardOf("one"), two: shardOf("two") };
  return {
    slotCount: 1,
    slotOf: () => 0,
    shardOf: () => shards[current],
    all: () => Object.values(shards),
    onMove: (listener: (slots: readonly number[]) => void) => void connections.on("move", () => listener([0])),
    connections,
    current: () => current,
    other: () => otherThan(current),
    follow(owner: ShardName) {
      if (current === owner) return;
      current = owner;
      connections.emit("move");
    },
    lose: (name: ShardName) => void connections.emit(`${name} lost`),
  };
}

function raise({ used, resetAtMs }: UsedUnits, reported: WindowCounts): UsedUnits {
  if (reported.resetAtMs !== resetAtMs) return { used, resetAtMs };
  return { used: Math.max(used, reported.knownUsed) + reported.owedUnits, resetAtMs };
}
