import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "@petstore/harness/figures";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { Environment } from "./environment.js";
import type { Load } from "./load.js";
import {
  count,
  endOf,
  groupBy,
  isFailure,
  isSuccess,
  isUnavailable,
  type Result,
  slowestMs,
  type Timed,
} from "./results.js";
import type { Service } from "./services.js";

/** A fault adds at most this once: a service has given up a call to Redis by then. */
const addedMs = 100;

/**
 * The slowest request in flight when the fault began may take one command timeout more than the slowest one before. Later
 * requests are as fast as before.
 */
export function checkLatency(
  figures: Figures,
  { results }: Pick<Load, "results">,
  faultAtMs: number,
  recoveredAtMs: number,
): void {
  const settledAtMs = faultAtMs + addedMs + 50;
  const inFlight = results.filter((one) => endOf(one) >= faultAtMs && one.sentAtMs < settledAtMs);
  const before = results.filter((one) => one.sentAtMs > faultAtMs - 2_000 && endOf(one) < faultAtMs);
  const later = results.filter((one) => one.sentAtMs >= settledAtMs && one.sentAtMs < recoveredAtMs);
  const beforeMs = medianP99(before);
  figures.atMost(addedMs, "added to the slowest request", slowestMs(inFlight) - slowestMs(before), "ms");
  figures.atMost(beforeMs + 25, "later requests, p99 of the median second", medianP99(later), "ms");
}

/** The p99 of the median second: our faults return in every second, a busy moment of the machine does not. */
export function medianP99(results: readonly Timed[]): number {
  const bySecond = groupBy(results, ({ sentAtMs }) => Math.floor(sentAtMs / 1_000));
  const durationsMs = [...bySecond.values()].map((sent) => sent.map(({ durationMs }) => durationMs));
  return median(durationsMs.map((each) => percentile(each, 99)));
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 50);
}

interface SharedLimit {
  readonly accounts: number;
  readonly limit: number;
  readonly clients: number;
  /** For each account. */
  readonly requests: number;
}

/** The services admit exactly the limit. Limits the accounts by the day, so that no window ends during a load. */
export async function checkAdmitted(environment: Environment, figures: Figures, shared: SharedLimit): Promise<void> {
  const { accounts, limit, clients, requests } = shared;
  const limits = { perMinute: 10_000_000, perDay: limit };
  const admitted: number[] = [];
  for (let account = 0; account < accounts; account += 1) {
    const load = await environment.startLoad({ limits, clients, requests, pauseMs: 0 });
    admitted.push(count(load.results, isSuccess));
  }
  figures.exactly(limit, `admitted of ${requests}, the fewest`, Math.min(...admitted));
  figures.exactly(limit, `admitted of ${requests}, the most`, Math.max(...admitted));
}

/** Each failure must be a 503 with Retry-After, in time. */
export function checkFailures(figures: Figures, what: string, results: readonly Result[], withinMs: number): void {
  const failures = results.filter(isFailure);
  figures.atLeast(1, `${what} that failed`, failures.length);
  figures.count(0, `${what} that failed without a 503 and Retry-After`, failures, (one) => !isUnavailable(one));
  figures.atMost(withinMs, `${what} that failed, the slowest`, slowestMs(failures), "ms");
}

/** Failures of requests that were sent after this time. */
export function failuresAfter(results: readonly Result[], atMs: number): number {
  return count(results, (one) => isFailure(one) && one.sentAtMs > atMs);
}

type Readiness = "ready" | "degraded" | "not ready";

const readinessTimeoutMs = 15_000;

/** How long it takes until every service has one of these states; infinite after the timeout. */
export async function millisecondsUntil(
  services: readonly Service[],
  ...states: readonly Readiness[]
): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < readinessTimeoutMs) {
    const all = await Promise.all(services.map(readinessOf));
    if (all.every((one) => states.includes(one))) return performance.now() - startMs;
    await sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}

async function readinessOf({ origin }: Pick<Service, "origin">): Promise<Readiness> {
  const response = await fetch(`${origin}/readyz`);
  const { status } = (await response.json()) as { readonly status: Readiness };
  return status;
}
