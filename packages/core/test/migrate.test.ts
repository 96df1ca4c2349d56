import { createTestDatabase, grantService } from "@petstore/harness";
import { openSession, query } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { migrations } from "../src/database/migrations/migrations.js";
import { migrate, readMigrations } from "../src/index.js";

const everyMigration = Object.keys(migrations);

describe("migrations", () => {
  it("are numbered in the order in which they run", () => {
    const numbers = everyMigration.map((name) => Number(/^(\d{4})-/.exec(name)?.[1]));
    expect(numbers).toEqual(everyMigration.map((_name, index) => index + 1));
  });

  it("run once when four processes migrate an empty database at once, and are listed as pending before", async () => {
    await using database = await createTestDatabase();
    for (let look = 0; look < 2; look++) {
      expect(await readMigrations(database.url)).toEqual({ pending: everyMigration, unknown: [] });
    }
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
    expect(runs.flat().sort()).toEqual(everyMigration);
    expect(await migrate(database.url)).toEqual([]);
    expect(await readMigrations(database.url)).toEqual({ pending: [], unknown: [] });
  });

  it("of a newer release are reported, and change nothing", async () => {
    await using database = await createTestDatabase();
    await migrate(database.url);
    await query(database.directUrl, "insert into kysely_migration values ('9999-next', ''), ('9998-last', '')");
    expect(await migrate(database.url)).toEqual([]);
    expect(await readMigrations(database.url)).toEqual({ pending: [], unknown: ["9998-last", "9999-next"] });
  });

  it("create no tables in a database whose encoding cannot hold every name, and say which encoding can", async () => {
    await using database = await createTestDatabase({ encoding: "LATIN1" });
    await expect(migrate(database.url)).rejects.toThrow(/^The encoding of the database is LATIN1, .* --encoding=UTF8 /);
    expect(await query(database.directUrl, "select from pg_tables where schemaname = 'public'")).toEqual([]);
  });

  it("still run in a database that has been migrated in such an encoding before", async () => {
    await using database = await createTestDatabase({ encoding: "LATIN1" });
    await query(
      database.directUrl,
      `create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
      ${migrations[everyMigration[0] ?? ""]}; insert into kysely_migration values ('${everyMigration[0]}', '')`,
    );
    expect(await migrate(database.url)).toEqual(everyMigration.slice(1));
  });

  it("make a store that holds every name in UTF8 and in SQL_ASCII", async () => {
    for (const encoding of ["UTF8", "SQL_ASCII"]) {
      await using database = await createTestDatabase({ encoding });
      await migrate(database.url);
      const name = "Łukasz 😀";
      const insert = `insert into pets (name, category_id, status) values ('${name}', 1, 'sold') returning name`;
      expect(await query(database.url, insert), encoding).toEqual([{ name }]);
    }
  });

  it("give up in one clear line when another migrator keeps the lock", async () => {
    await using database = await createTestDatabase();
    {
      await using other = await openSession(database.directUrl);
      await other.query("select pg_advisory_lock(7302030512)");
      await expect(migrate(database.url, { lockWaitMs: 200 })).rejects.toThrow(/^Another process has been migrating/);
    }
    expect(await migrate(database.url, { lockWaitMs: 200 })).toEqual(everyMigration);
  });

  it("let other sessions read while a long transaction holds a table, and run when it ends", async () => {
    await using database = await createTestDatabase();
    await using backup = await openSession(database.directUrl);
    await using service = await openSession(database.directUrl);
    await backup.query(
      "create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)",
    );
    for (const name of everyMigration.slice(0, 2)) {
      await backup.query(`${migrations[name]}; insert into kysely_migration values ('${name}', '')`);
    }
    await backup.query("begin; select from api_keys");
    await expect(migrate(database.url, { lockWaitMs: 300 })).rejects.toThrow(/^Other programs, such as a backup/);
    const migrated = migrate(database.url);
    await service.query("set statement_timeout = 5000");
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect.poll(() => service.query(waiting), { interval: 10 }).toHaveLength(1);
      await service.query("select from accounts, api_keys");
    }
    await backup.query("commit");
    expect(await migrated).toEqual(everyMigration.slice(2));
  });

  it("run under load, although each request uses the tables of several migrations", async () => {
    await using database = await createTestDatabase();
    const { directUrl } = database;
    const upTo = everyMigration.indexOf("0005-settled-pages");
    await query(
      directUrl,
      `create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
      ${everyMigration
        .slice(0, upTo)
        .map((name) => `${migrations[name]}; insert into kysely_migration values ('${name}', '');`)
        .join("\n")}`,
    );
    let isMigrated = false;
    // As a create does, which reads the key first.
    const create =
      "begin; select from api_keys; insert into pets (name, category_id, status) values ('', 1, 'sold'); commit";
    const load = Array.from({ length: 8 }, async () => {
      await using client = await openSession(directUrl);
      while (!isMigrated) await client.query(create);
    });
    const migrated = await migrate(database.url, { lockWaitMs: 5_000 }).finally(() => {
      isMigrated = true;
    });
    await Promise.all(load);
    expect(migrated).toEqual(everyMigration.slice(upTo));
  });

  it("let the role of the services add entries to the audit log, and change or delete none", async () => {
    await using database = await createTestDatabase();
    await using service = await openSession(await grantService(database));
    await migrate(database.url);
    const add = "insert into audit_log (actor, action, account_id, details) values ('ada', 'test', 1, '{}')";
    // The grants are repeated when a standalone store loses the password of the role.
    for (const grant of [async () => "", () => grantService(database)]) {
      await grant();
      await service.query(add);
      expect((await service.query("select actor from audit_log"))[0]).toEqual({ actor: "ada" });
      for (const refused of ["update audit_log set actor = 'nobody'", "delete from audit_log", "truncate audit_log"]) {
        await expect(service.query(refused), refused).rejects.toMatchObject({ code: "42501" });
      }
    }
  });

  it("that fail change nothing", async () => {
    await using database = await createTestDatabase();
    await query(database.url, "create table accounts (id bigint)");
    await expect(migrate(database.url)).rejects.toThrow();
    expect(await query(database.url, "select from pg_class where relname = 'pets'")).toEqual([]);
  });
});
