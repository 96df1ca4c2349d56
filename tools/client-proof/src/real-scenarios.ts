import { setTimeout as sleep } from "node:timers/promises";
import { createPetStoreClient } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import type { LedgerFigures } from "@petstore/harness/responses";
import { startFullSpeed } from "./full-speed.js";
import { createPets } from "./ledger.js";
import type { RealStore } from "./real-store.js";
import type { SpeedFigures } from "./virtual-scenarios.js";
import { createWitness } from "./witness.js";

/** Runs clients of one new account on Free, with one key, at full speed for a number of whole UTC minutes. */
export async function fullSpeedInRealTime(
  { database, baseUrl }: RealStore,
  clientCount: number,
  minutes: number,
): Promise<SpeedFigures> {
  const limits = limitsOf({ plan: "free" });
  const { key: apiKey } = await database.issueKey({ plan: "free" });
  const witness = createWitness();
  const { fetch } = witness;
  const clients = Array.from({ length: clientCount }, () => createPetStoreClient({ baseUrl, apiKey, fetch }));
  await sleep(60_000 - (Date.now() % 60_000));
  const stop = startFullSpeed(clients);
  // Stops a second early, so that the next window does not begin.
  await sleep(minutes * 60_000 - 1_000);
  const failed = await stop();
  const admitted = witness.answers.get(200) ?? 0;
  return {
    admitted,
    throughput: admitted / (minutes * limits.perMinute),
    refused: witness.answers.get(429) ?? 0,
    bans: witness.bans,
    failed,
  };
}

export interface KillFigures extends LedgerFigures {
  /** Requests without an answer because of the kill. */
  readonly unanswered: number;
  /** Repeated creates that the service had already done. */
  readonly replays: number;
}

export interface KillOptions {
  readonly creates: number;
  readonly killAfterMs: number;
  readonly downMs: number;
  /** For the waits of the client. */
  readonly random?: () => number;
}

/** Creates pets while the service is killed, stays down and is started again. */
export async function createsWhileKilled(
  store: RealStore,
  { creates, killAfterMs, downMs, random = Math.random }: KillOptions,
): Promise<KillFigures> {
  const { key: apiKey } = await store.database.issueKey();
  const witness = createWitness();
  const client = createPetStoreClient({ baseUrl: store.baseUrl, apiKey, fetch: witness.fetch, random });
  const creating = createPets(client, creates, 50);
  await sleep(killAfterMs);
  await store.kill();
  await sleep(downMs);
  await store.restart();
  const ledger = await creating;
  const figures = ledger.compare(await store.database.countByName([...ledger.asked]));
  return { ...figures, unanswered: witness.unanswered, replays: witness.replays };
}
