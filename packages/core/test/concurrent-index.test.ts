// A migration that builds an index, on a table that is in use.
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, shared } from "@petstore/harness";
import { openSession, query, type Session } from "@petstore/harness/postgres";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type ConcurrentIndex, concurrentIndexStatements } from "../src/database/migrations/concurrent-index.js";
import { migrations } from "../src/database/migrations/migrations.js";
import { migrate, readMigrations } from "../src/index.js";

vi.setConfig({ testTimeout: 120_000 });
const eventually = { timeout: 60_000, interval: 20 };

const name = "0008-pets-of-idempotency-keys";
const wanted = migrations[name] as ConcurrentIndex;
const [createIndex = ""] = concurrentIndexStatements(wanted);

const database = await shared(createTestDatabase());
await migrate(database.directUrl);
await query(
  database.directUrl,
  `insert into accounts (id, name, plan) overriding system value values (1, 'one', 'free');
   insert into pets (name, category_id, status) values ('Ada', 1, 'sold')`,
);

beforeEach(async () => {
  await query(
    database.directUrl,
    `drop index if exists ${wanted.index}; delete from kysely_migration where name = '${name}'`,
  );
});

describe("an index of a migration", () => {
  it("is built once when four processes migrate at once, and is valid", async () => {
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(runs.flat()).toEqual([name]);
    expect(await readIndex()).toMatchObject({ isValid: true });
  });

  it("holds up no create while its build waits for older transactions, for longer than an idle migrator may live", async () => {
    await using first = await openTransaction();
    await using second = await openTransaction();
    // Each wait is shorter than the limit for one lock, and both together are longer than the limit for an idle transaction.
    const migrated = migrate(database.directUrl, { lockWaitMs: 12_000 });
    await expect.poll(waiting, eventually).toHaveLength(1);
    await using service = await openSession(database.directUrl);
    await service.query("set statement_timeout = 2000");
    for (const session of [first, second]) {
      await service.query(
        "insert into idempotency_keys values (1, gen_random_uuid(), '', (select max(id) from pets), now())",
      );
      await sleep(5_500);
      await session.query("rollback");
    }
    expect(await migrated).toEqual([name]);
    expect(await readIndex()).toMatchObject({ isValid: true });
  });

  it("is built again when its build was cut off: it is invalid until then, and the migration is pending", async () => {
    {
      await using _obstacle = await openTransaction();
      const migrated = migrate(database.directUrl);
      const failure = expect(migrated).rejects.toThrow(/terminat/);
      await expect.poll(waiting, eventually).toHaveLength(1);
      await query(database.directUrl, `select pg_terminate_backend(pid) from (${waitingQuery}) as build`);
      await failure;
    }
    const cutOff = await readIndex();
    expect(cutOff).toMatchObject({ isValid: false });
    expect(await readMigrations(database.directUrl)).toEqual({ pending: [name], unknown: [] });
    const runs = await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(runs.flat()).toEqual([name]);
    expect(await readIndex()).toEqual({ isValid: true, file: expect.not.stringMatching(`^${cutOff?.file}$`) });
  });

  it("is not built again when only the mark of its migration is missing", async () => {
    await query(database.directUrl, createIndex);
    const built = await readIndex();
    expect(await migrate(database.url)).toEqual([name]);
    expect(await readIndex()).toEqual(built);
  });

  it("is awaited, and not built again, while PostgreSQL still builds it for a process that has died", async () => {
    await using obstacle = await openTransaction();
    await using died = await openSession(database.directUrl);
    const built = died.query(createIndex);
    await expect.poll(waiting, eventually).toHaveLength(1);
    const begun = await readIndex();
    await expect(migrate(database.directUrl, { lockWaitMs: 300 })).rejects.toThrow(
      /^PostgreSQL has been building an index for a process that has ended for 0.3 s; try again later.$/,
    );
    const migrated = migrate(database.directUrl);
    await obstacle.query("rollback");
    await built;
    expect(await migrated).toEqual([name]);
    expect(await readIndex()).toEqual({ isValid: true, file: begun?.file });
  });

  it.each([
    ["our build", 0],
    ["its build", 1_500],
  ])(
    "is built although a process has died while it waited for the table, and the deadlock ends %s",
    async (_ended, longerMs) => {
      await using vacuum = await openSession(database.directUrl);
      await vacuum.query("begin; lock table idempotency_keys in share update exclusive mode");
      await using died = await openSession(database.directUrl);
      const ended = died.query(createIndex).catch(({ code }) => expect(code).toBe("40P01"));
      await expect.poll(waiting, eventually).toHaveLength(1);
      const migrated = migrate(database.directUrl);
      await expect.poll(waiting, eventually).toHaveLength(2);
      // A session looks for a deadlock once, after it has waited for a second.
      await sleep(longerMs);
      await vacuum.query("rollback");
      await ended;
      expect(await migrated).toEqual([name]);
      expect(await readIndex()).toMatchObject({ isValid: true });
    },
  );

  it("is given up if a transaction has the table for longer than the wait, and the command says so", async () => {
    await using _obstacle = await openTransaction();
    await expect(migrate(database.directUrl, { lockWaitMs: 300 })).rejects.toThrow(
      /^Other programs, such as a backup, have been using the tables for 0.3 s; try again later.$/,
    );
  });
});

/** A transaction that writes to the table. Disposing ends it. */
async function openTransaction(): Promise<Session> {
  const session = await openSession(database.directUrl);
  await session.query("begin; lock table idempotency_keys in row exclusive mode");
  return session;
}

const waitingQuery = `
  select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like 'create index concurrently%'`;

function waiting(): Promise<unknown[]> {
  return query(database.directUrl, waitingQuery);
}

/** The file changes if the index is built again. */
async function readIndex(): Promise<{ readonly isValid: boolean; readonly file: string } | undefined> {
  const [row] = await query(
    database.directUrl,
    `select indisvalid as "isValid", pg_relation_filenode(indexrelid)::text as file
     from pg_index where indexrelid = to_regclass('${wanted.index}')`,
  );
  return row as { readonly isValid: boolean; readonly file: string } | undefined;
}
