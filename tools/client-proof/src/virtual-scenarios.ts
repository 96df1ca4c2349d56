import { createPetStoreClient, type PetStoreClient } from "@petstore/client";
import { limitsOf } from "@petstore/core";
import type { LedgerFigures } from "@petstore/harness/responses";
import { startFullSpeed } from "./full-speed.js";
import { createPets } from "./ledger.js";
import { createRandom } from "./seeded-random.js";
import { createVirtualStore, type VirtualStore } from "./virtual-store.js";
import { startVirtualTime } from "./virtual-time.js";

const limits = limitsOf({ plan: "free" });
const noon = Date.UTC(2027, 4, 3, 12);
const minuteMs = 60_000;

export interface SpeedFigures {
  readonly admitted: number;
  /** The admitted requests as a share of the limits of these minutes, 0 to 1. */
  readonly throughput: number;
  readonly refused: number;
  readonly bans: number;
  /** Calls that were rejected. */
  readonly failed: number;
}

/** Runs clients of one account and key on Free at full speed for a number of whole minutes. */
export async function fullSpeed(clientCount: number, minutes: number, seed: number): Promise<SpeedFigures> {
  using time = startVirtualTime(noon);
  const random = createRandom(seed);
  const store = createVirtualStore({ limits, random });
  const stop = startFullSpeed(Array.from({ length: clientCount }, () => clientOf(store, random)));
  await time.pass(minutes * minuteMs - 1);
  const failed = await stop();
  const admitted = store.answers.filter(({ status }) => status === 200).length;
  return {
    admitted,
    throughput: admitted / (minutes * limits.perMinute),
    refused: store.answers.filter(({ status }) => status === 429).length,
    bans: store.answers.filter(({ code }) => code === "API_KEY_BANNED").length,
    failed,
  };
}

/** Kills the service one second after the first create, for ten seconds. */
export async function killedForTenSeconds(seed: number): Promise<LedgerFigures> {
  using time = startVirtualTime(noon);
  const random = createRandom(seed);
  const store = createVirtualStore({ limits: { perMinute: 1_000, perDay: 100_000 }, random });
  const creating = createPets(clientOf(store, random), 400, 50);
  await time.pass(1_000);
  store.kill();
  await time.pass(10_000);
  store.restart();
  await time.pass(5 * minuteMs);
  return (await creating).compare(store.stored);
}

function clientOf(store: VirtualStore, random: () => number): PetStoreClient {
  return createPetStoreClient({ baseUrl: "http://virtual.invalid/v1", apiKey: "key", fetch: store.fetch, random });
}
