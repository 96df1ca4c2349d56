/**
 * Every statement that core sends, as Kysely compiles it. Not here is what the `petstore` command asks about the server itself
 * (`petstore doctor`), and about the running instances.
 */
import { type AccountRepository, createAccountRepository } from "../access/account-repository.js";
import { listAuditEntries } from "../access/audit-log.js";
import { selectEndingKeys } from "../access/ending-keys.js";
import { createKeyRepository, type KeyRepository } from "../access/key-repository.js";
import { writeLastUse } from "../access/key-uses.js";
import { listen, notify } from "../changes/subscribe-to-changes.js";
import { selectServer } from "../database/connection.js";
import { clientConfigOf } from "../database/connection-config.js";
import { setLimits } from "../database/connection-pool.js";
import type { Database } from "../database/database.js";
import { migratorStatements } from "../database/migrate.js";
import { selectAppliedMigrations } from "../database/migration-status.js";
import { concurrentIndexStatements } from "../database/migrations/concurrent-index.js";
import { migrations } from "../database/migrations/migrations.js";
import type { NamedSql } from "../database/statement.js";
import { idempotencyStatements } from "../pets/idempotency.js";
import { settlingStatements } from "../pets/pages/settled-ids.js";
import { insertPet, selectPet, selectPets, selectPetsByStatus } from "../pets/pet-queries.js";
import { selectAccountUsage } from "../usage/account-usage.js";
import { listBusiestAccounts, listDeprecatedUse, listUsage, type UsagePeriod } from "../usage/usage-reports.js";
import { usageStatements } from "../usage/usage-table.js";

export async function everyStatement(): Promise<NamedSql[]> {
  const statements = [
    ...migrationStatements(),
    ...migratorStatements,
    ...connectionStatements(),
    insertPet,
    selectPets,
    selectPetsByStatus,
    selectPet,
    ...idempotencyStatements,
    ...settlingStatements,
    writeLastUse,
    selectEndingKeys,
    selectAccountUsage,
    ...usageStatements,
    notify,
    ...(await repositoryStatements()),
  ];
  return statements.map(({ name, text }) => ({ name, text }));
}

function migrationStatements(): NamedSql[] {
  return Object.entries(migrations).flatMap(([name, migration]) => {
    const texts = typeof migration === "string" ? [migration] : concurrentIndexStatements(migration);
    return texts.map((text) => ({ name: `migration ${name}`, text }));
  });
}

/** What each connection sends for itself. */
function connectionStatements(): NamedSql[] {
  const limits = { acquireTimeoutMs: 1, readTimeoutMs: 1, writeTimeoutMs: 1 };
  const parameters = Object.keys(clientConfigOf({ url: "postgres://host/database", poolSize: 1, ...limits }, 1));
  // The parameters of PostgreSQL. The names of the options of pg itself have no underscore.
  const sent = parameters.filter((name) => /^[a-z]+(?:_[a-z]+)+$/.test(name));
  return [
    { name: "start of a connection", text: sent.map((name) => `set ${name}`).join("; ") },
    { name: "check of a connection", text: selectServer },
    { name: "time limits of a connection", text: setLimits },
    { name: "check of the schema", text: selectAppliedMigrations },
    { name: "connection that listens", text: listen },
  ];
}

/** The repositories compile a statement in each call. This calls every method, and keeps what it would have sent. */
async function repositoryStatements(): Promise<NamedSql[]> {
  const recorded: NamedSql[] = [];
  let caller = "";
  const database: Pick<Database, "run"> = {
    async run({ name, text }) {
      recorded.push({ name: name === "" ? caller : name, text });
      return [];
    },
  };
  const accounts = createAccountRepository(database, "");
  const keys = createKeyRepository(database, "");
  const text = "";
  const [id, ms] = [1n, 1];

  // The types name a method that is missing here.
  const ofAccounts: Record<keyof AccountRepository, () => Promise<unknown>> = {
    create: () => accounts.create({ name: "", plan: "free" }),
    find: () => accounts.find(id),
    findByName: () => accounts.findByName(""),
    list: () => accounts.list(),
    setPlan: () => accounts.setPlan({ name: "", plan: "free" }),
    suspend: () => accounts.suspend(""),
    resume: () => accounts.resume(""),
    rename: () => accounts.rename("", ""),
    delete: () => accounts.delete(id),
  };
  const ofKeys: Record<keyof KeyRepository, () => Promise<unknown>> = {
    add: () => keys.add({ accountId: id, text }),
    list: () => keys.list(id),
    revoke: () => keys.revoke(id),
    revokeAll: () => keys.revokeAll(id),
    change: () => keys.change(id, { name: "" }),
    rotate: () => keys.rotate({ id, text, graceMs: ms }),
    expire: () => keys.expire(id, { inMs: ms }),
    liftBan: () => keys.liftBan(id),
    find: () => keys.find(id),
    listLineages: () => keys.listLineages([id]),
    search: () => keys.search(text),
    findByDigest: () => keys.findByDigest(text),
  };
  const ofAudit = {
    list: () => listAuditEntries(database, { limit: 1 }),
    listOfAccount: () => listAuditEntries(database, { accountId: id, limit: 1 }),
  };
  const period: UsagePeriod = { unit: "day", count: 1 };
  const ofUsage = {
    listOfKey: () => listUsage(database, { keyId: id }, period),
    listOfAccount: () => listUsage(database, { accountId: id }, period),
    busiest: () => listBusiestAccounts(database, period, 1),
    deprecated: () => listDeprecatedUse(database, period),
  };
  const all = { accounts: ofAccounts, keys: ofKeys, audit: ofAudit, usage: ofUsage };
  for (const [repository, calls] of Object.entries(all)) {
    for (const [method, call] of Object.entries(calls)) {
      caller = `${repository} ${method}`;
      const count = recorded.length;
      // Some methods need a row, and here is none. By then, they have sent their statement.
      await call().catch(() => {});
      if (recorded.length === count) throw new Error(`${caller} sends no statement`);
    }
  }
  return recorded;
}
