import { setTimeout as sleep } from "node:timers/promises";

const dayMs = 86_400_000;

/** Waits for the next UTC day if less than this is left, because the quota of a day begins again then. */
export async function waitPastMidnight(neededMs: number): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs > neededMs) return;
  process.stderr.write(`Waiting ${Math.ceil(leftMs / 1_000)} s until midnight UTC has passed.\n`);
  await sleep(leftMs + 1_000);
}
