import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Core, digestApiKey, migrate, mintApiKey, openCore, readConfig } from "@petstore/core";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import type { CompareDeps } from "./comparison.js";
import { addPets, type PetLayout } from "./pets.js";

/** A directory that disposing removes. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function openTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "petstore-bench-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function openPrivateDatabase(directory: string): Promise<EmbeddedPostgres> {
  const opened = await openEmbeddedPostgres({ directory: databaseDirectory(directory) });
  if (opened.kind === "in-use") throw new Error(`process ${opened.holderPid} uses a directory that was just created`);
  return opened.database;
}

/** The directory of a private database, below the directory of the run. */
export function databaseDirectory(directory: string): string {
  return join(directory, "database");
}

const petCount = 10_000;
const evenly: PetLayout = () => "(array['available', 'pending', 'sold'])[1 + number % 3]";
/** As many as callers, where no two ask the same. */
const accountCount = 32;
/** The schema's largest: what is measured is the counting, not the refusing. */
const limit = 2_147_483_647;

/** Brings an empty database to 10,000 pets, evenly over the statuses, and 32 accounts; returns a key of each. */
export async function seed(databaseUrl: string, deps: CompareDeps): Promise<[string, ...string[]]> {
  await using core = await openMigratedCore(databaseUrl);
  const apiKeys: [string, ...string[]] = [await addAccount(core, "bench-1")];
  for (let number = 2; number <= accountCount; number++) {
    apiKeys.push(await addAccount(core, `bench-${number}`));
  }
  await addPets(databaseUrl, petCount, evenly, deps);
  return apiKeys;
}

export async function openMigratedCore(databaseUrl: string): Promise<Core> {
  await migrate(databaseUrl);
  const log = { info() {}, warn() {}, error() {} };
  return openCore(readConfig({ DATABASE_URL: databaseUrl }), { log, now: Date.now });
}

/** Adds an account and returns a key of it. Without `requests` per minute and day, no load can use up its limits. */
export async function addAccount({ accounts, keys }: Core, name: string, requests: number = limit): Promise<string> {
  const customLimits = { perMinute: requests, perDay: requests };
  const account = await accounts.create({ name, plan: "enterprise", customLimits });
  if (account === undefined) throw new Error("the database is not empty");
  const apiKey = mintApiKey("test", randomBytes);
  await keys.add({ accountId: account.id, digest: digestApiKey(apiKey) });
  return apiKey;
}
