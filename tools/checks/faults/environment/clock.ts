import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";

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
