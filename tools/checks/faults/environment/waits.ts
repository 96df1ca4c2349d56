import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import type { Service } from "./services.js";

/** Waits for the next minute if this one ends before the duration. */
export async function withinOneMinute(durationMs: number): Promise<void> {
  const leftMs = 60_000 - (nowMs() % 60_000);
  if (leftMs < durationMs) await sleep(leftMs + 100);
}

const conditionTimeoutMs = 30_000;

/** Resolves when the condition holds. Rejects after 30 s. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await holds())) {
    if (performance.now() - startMs > conditionTimeoutMs) throw new Error(`does not hold after 30 s: ${holds}`);
    await sleep(5);
  }
}

export type Readiness = "ready" | "degraded" | "not ready";

export async function readinessOf({ origin }: Pick<Service, "origin">): Promise<Readiness> {
  const response = await fetch(`${origin}/readyz`);
  const { status } = (await response.json()) as { readonly status: Readiness };
  return status;
}

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
