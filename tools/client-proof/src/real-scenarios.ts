import { setTimeout as sleep } from "node:timers/promises";
import { createPetStoreClient } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import { startFullSpeed } from "./full-speed.js";
import { type LedgerFigures, startCreating } from "./ledger.js";
import type { RealStore } from "./real-store.js";
import type { ServiceProcess } from "./service-process.js";
import type { SpeedFigures } from "./virtual-scenarios.js";
import { createWitness } from "./witness.js";

interface Scene {
  readonly store: RealStore;
  readonly service: ServiceProcess;
}

/** So many clients of one new account on Free, with one key, at full speed for so many whole UTC minutes. */
export async function fullSpeedInRealTime(
  { store, service }: Scene,
  clientCount: number,
  minutes: number,
): Promise<SpeedFigures> {
  const limits = limitsOf({ plan: "free" });
  const apiKey = await store.issueKey();
  const witness = createWitness();
  const { fetch } = witness;
  const baseUrl = `${service.origin}/v1`;
  const clients = Array.from({ length: clientCount }, () => createPetStoreClient({ baseUrl, apiKey, fetch }));
  await sleep(60_000 - (Date.now() % 60_000));
  const stop = startFullSpeed(clients);
  // Its last second is left out, so that the window after the last one is not begun.
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
  /** Requests that the kill left without an answer. */
  readonly unanswered: number;
  /** Creates that were done already when they were repeated. */
  readonly replays: number;
}

export interface KillOptions {
  readonly creates: number;
  readonly killAfterMs: number;
  readonly downMs: number;
  /** The client's, for its waits. */
  readonly random?: () => number;
}

/** Creates pets while the service's process is killed, is away, and is started again. */
export async function createsWhileKilled(
  { store, service }: Scene,
  { creates, killAfterMs, downMs, random = Math.random }: KillOptions,
): Promise<KillFigures> {
  const apiKey = await store.issueKey({ perMinute: 1_000_000, perDay: 1_000_000 });
  const witness = createWitness();
  const client = createPetStoreClient({ baseUrl: `${service.origin}/v1`, apiKey, fetch: witness.fetch, random });
  const ledger = startCreating(client, creates, 50);
  await sleep(killAfterMs);
  await service.kill();
  await sleep(downMs);
  await service.restart();
  await ledger.creating;
  const figures = ledger.compare(await store.countByName(ledger.names));
  return { ...figures, unanswered: witness.unanswered, replays: witness.replays };
}
