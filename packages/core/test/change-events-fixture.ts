import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase } from "@petstore/harness";
import { type FaultProxy, openFaultProxy } from "@petstore/harness/network";
import { type Core, digestApiKey, type KeyRecord, migrate, mintApiKey, openCore, readConfig } from "../src/index.js";

export interface ChangeEventsFixture extends AsyncDisposable {
  /** Instances of the service over one database, each with a quota of its own. */
  readonly instances: readonly Core[];
  /** Lines logged by all of them. */
  readonly logged: readonly string[];
  /** The address of the database itself. */
  readonly url: string;
  /** The proxy for the listening connections of the instances only. */
  readonly listening: FaultProxy;
  issueKey(): Promise<{ readonly key: string; readonly record: KeyRecord; readonly name: string }>;
}

export async function openChangeEventsFixture(): Promise<ChangeEventsFixture> {
  const database = await createTestDatabase();
  await migrate(database.url);
  const listening = await openFaultProxy({ url: database.directUrl });
  const logged: string[] = [];
  const write = (_fields: object, message: string) => void logged.push(message);
  const log = { info: write, warn: write, error: write };
  const config = readConfig({
    DATABASE_URL: database.url,
    DATABASE_DIRECT_URL: listening.url,
    BAN_STRIKES: "1",
    BAN_STRIKES_PER_UNIT: "0",
    BAN_GRACE_MS: "0",
    BAN_EARLY_MS: "0",
  });
  const open = () => openCore(config, { log, now: Date.now });
  const instances = [await open(), await open()];
  let accounts = 0;
  return {
    instances,
    logged,
    listening,
    url: database.directUrl,
    async issueKey() {
      const [{ accounts: repository, keys }] = instances as [Core];
      const name = `account ${++accounts}`;
      const account = await repository.create({ name, plan: "free" });
      const key = mintApiKey("live", randomBytes);
      const record = await keys.add({ accountId: account?.id ?? 0n, digest: digestApiKey(key) });
      return { key, record, name };
    },
    async [Symbol.asyncDispose]() {
      for (const instance of instances) await instance[Symbol.asyncDispose]();
      await listening[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Milliseconds until the condition holds; Infinity if it does not hold within the limit. */
export async function millisecondsUntil(limitMs: number, holds: () => Promise<boolean>): Promise<number> {
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < limitMs) {
    if (await holds()) return performance.now() - startedAtMs;
    await sleep(10);
  }
  return Number.POSITIVE_INFINITY;
}
