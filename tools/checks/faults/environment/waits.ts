import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import type { Service } from "./services.js";

/** Resolves when the condition holds. Rejects after 30 s. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: 30_000, interval: 5 });
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
