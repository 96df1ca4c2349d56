import { randomBytes } from "node:crypto";
import { type Limits, migrate, mintApiKey } from "@petstore/core";
import { openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";

export const unlimited: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** Migrates the database and connects to it. Disposing disconnects. */
export async function openMigratedDatabase(databaseUrl: string): Promise<StoreDatabase> {
  await migrate(databaseUrl);
  return openStoreDatabase(databaseUrl);
}

/** A well-formed key that no account has. */
export function mintUnknownKey(): string {
  return mintApiKey("test", randomBytes);
}
