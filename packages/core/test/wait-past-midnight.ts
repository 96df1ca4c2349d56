import { setTimeout as sleep } from "node:timers/promises";

/** Longer than the tests take. */
const neededMs = 4 * 60_000;
const dayMs = 86_400_000;

/**
 * Some tests count the units of one day in Redis, by the clock of Redis, and the count begins again at midnight UTC. This
 * setup waits if midnight is too near.
 */
export async function setup(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs > neededMs) return;
  process.stderr.write(`Waiting ${Math.ceil(leftMs / 1_000)} s until midnight UTC has passed.\n`);
  await sleep(leftMs + 1_000);
}
