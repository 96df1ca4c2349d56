import { createKeyIssuer } from "@petstore/checks/store-database";
import { type Core, migrate, openCore, readConfig } from "@petstore/core";
import { openSession } from "@petstore/harness/postgres";
import type { RunDeps } from "../benchmark.js";

export interface StoreOptions {
  readonly pets: number;
  /** The status of a pet as SQL, from its `number`, which is its id. Default: evenly over the statuses. */
  readonly status?: string;
  readonly accounts: number;
}

export interface Store {
  readonly databaseUrl: string;
  /** One key of each account. */
  readonly apiKeys: readonly string[];
}

/** The largest limit of the schema: no load uses it up. */
const unlimited = 2_147_483_647;

const petBatch = 500_000;
const accountBatch = 100;
const evenly = "(array['available', 'pending', 'sold'])[1 + number % 3]";

/** Migrates an empty database, and adds pets and accounts. */
export async function fillStore(databaseUrl: string, options: StoreOptions, deps: RunDeps): Promise<Store> {
  const { pets, status = evenly, accounts } = options;
  deps.progress(`Adding ${pets.toLocaleString("en")} pets and ${accounts.toLocaleString("en")} accounts ...`);
  await using core = await openMigratedCore(databaseUrl);
  const apiKeys: string[] = [];
  while (apiKeys.length < accounts) {
    const count = Math.min(accountBatch, accounts - apiKeys.length);
    apiKeys.push(...(await Promise.all(Array.from({ length: count }, () => addAccount(core)))));
  }
  await addPets(databaseUrl, pets, status, deps.signal);
  return { databaseUrl, apiKeys };
}

export async function openMigratedCore(databaseUrl: string): Promise<Core> {
  await migrate(databaseUrl);
  const log = { info() {}, warn() {}, error() {} };
  return openCore(readConfig({ DATABASE_URL: databaseUrl }), { log, now: Date.now });
}

/** Adds an account that may send this many requests per minute and per day, and returns its key. */
export async function addAccount(core: Core, requests: number = unlimited): Promise<string> {
  return (await createKeyIssuer(core)({ customLimits: { perMinute: requests, perDay: requests } })).key;
}

async function addPets(databaseUrl: string, count: number, status: string, signal: AbortSignal): Promise<void> {
  for (let first = 1; first <= count; first += petBatch) {
    signal.throwIfAborted();
    await query(
      databaseUrl,
      `insert into pets (name, category_id, status)
       select 'Pet ' || number, 1 + number % 50, (${status})::pet_status
       from generate_series(${first}, ${Math.min(count, first + petBatch - 1)}) number`,
    );
  }
  // Otherwise the autovacuum runs during a round.
  await query(databaseUrl, "vacuum analyze");
}

/** Runs one statement on a connection of its own. */
export async function query(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession(databaseUrl);
  return await session.query(text);
}
