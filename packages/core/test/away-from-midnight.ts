import { setTimeout as sleep } from "node:timers/promises";

/** Longer than the tests take. */
const neededMs = 4 * 60_000;
const dayMs = 86_400_000;

/**
 * Tests of quotas in Redis count what one day has used, by the clock of Redis: at midnight UTC the count begins anew.
 * Waits until a day is long enough.
 */
export async function setup(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs > neededMs) return;
  process.stderr.write(
    `Waiting ${Math.ceil(leftMs / 1_000)} s for midnight UTC to pass, so that no test runs over it.\n`,
  );
  await sleep(leftMs + 1_000);
}
