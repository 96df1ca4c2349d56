import { type Redis, ReplyError } from "ioredis";
import { vi } from "vitest";
import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Decision } from "../../../src/quota/decision.js";
import { createBreaker } from "../../../src/quota/engines/fallback/breaker.js";
import { createFallbackQuota } from "../../../src/quota/engines/fallback/fallback-quota.js";
import { createLastKnownCounts, type LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import { createLocalQuota, type LocalQuota } from "../../../src/quota/engines/local-quota.js";
import type { RedisQuota } from "../../../src/quota/engines/redis-quota.js";
import type { AccountCounters } from "../../../src/quota/engines/reserve-script.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { silentLog } from "../../logs.js";

/** An instance with its real quota and breaker, on a simulated connection, and the requests that it has received. */
export interface Instance {
  readonly requests: readonly Request[];
  /** The Redis that it sends calls to. */
  primary: LocalQuota;
  isOpen(): boolean;
  /** Redis answers a probe: the breaker closes. */
  answerProbe(): void;
  receive(): void;
  /** The calls whose requests wait for an answer, in order. */
  awaited(): Call[];
  /** The calls that Redis may still execute, in order. */
  unexecuted(): Call[];
  /** The connection breaks, or a call misses its deadline. */
  disconnect(): void;
  /** Redis has answered a call with an error. */
  refuse(call: Call): void;
}

interface Request {
  /** The decision that the client got. */
  answer: Decision | undefined;
  /** Absent if the instance decides without Redis, or if Redis has refused the call. */
  call: Call | undefined;
}

export interface Call {
  readonly primary: LocalQuota;
  readonly unsynced: AccountCounters | undefined;
  /** The decision of Redis. */
  executed: Decision | undefined;
  /** True if Redis will never execute it. */
  isLost: boolean;
  readonly resolve: (decisions: Decision[]) => void;
  readonly reject: (error: Error) => void;
}

/** Plants a mistake in the counts of an instance. */
export type Plant = (counts: LastKnownCounts) => Partial<LastKnownCounts>;

interface InstanceOptions {
  readonly now: () => number;
  readonly instances: number;
  readonly reservation: Reservation;
  readonly primary: LocalQuota;
  readonly plant: Plant;
}

export function openInstance({ now, instances, reservation, primary, plant }: InstanceOptions): Instance {
  const requests: Request[] = [];
  let onLoss = () => {};
  let answerProbe = () => {};
  const breaker = createBreaker({
    connection: {
      redis: { status: "ready", stream: { writable: true } } as Redis,
      onLoss: (listener) => {
        onLoss = listener;
      },
      reconnect: () => instance.disconnect(),
    },
    probe: () =>
      new Promise<void>((resolve) => {
        answerProbe = resolve;
      }),
    deadlineMs: 2 ** 31 - 1,
    log: silentLog,
  });
  const counts = createLastKnownCounts({
    now,
    banPolicy: defaultBanPolicy,
    instances,
    currentOutage: breaker.outages,
  });
  const decide: RedisQuota["decide"] = (_reservation, _times, unsynced) =>
    new Promise((resolve, reject) => {
      const call: Call = { primary: instance.primary, unsynced, executed: undefined, isLost: false, resolve, reject };
      Object.assign(requests.at(-1) ?? {}, { call });
    });
  const quota = createFallbackQuota({
    redisQuota: { ...createLocalQuota({ now }), decide },
    breaker,
    counts: { ...counts, ...plant(counts) },
    failureMode: "local",
  });

  const instance: Instance = {
    requests,
    primary,
    isOpen: () => !breaker.canCall(),
    answerProbe() {
      // Probes are sent at an interval.
      vi.advanceTimersByTime(1_000);
      answerProbe();
    },
    receive() {
      const request: Request = { answer: undefined, call: undefined };
      requests.push(request);
      void quota.reserve(reservation).then((answer) => {
        request.answer = answer;
      });
    },
    awaited: () => requests.flatMap(({ answer, call }) => (answer === undefined && call !== undefined ? [call] : [])),
    unexecuted() {
      const calls = requests.flatMap(({ call }) => call ?? []);
      return calls.filter(({ executed, isLost }) => executed === undefined && !isLost);
    },
    disconnect() {
      onLoss();
      for (const { reject } of instance.awaited()) reject(new Error("no reply"));
    },
    refuse(refused) {
      for (const request of requests) if (request.call === refused) request.call = undefined;
      refused.reject(new ReplyError("READONLY"));
    },
  };
  return instance;
}
