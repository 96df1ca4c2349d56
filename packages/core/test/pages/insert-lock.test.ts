// The premise of settled ids: an insert holds the lock from before its id is drawn until its transaction ends.
import { openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { createOnceIn } from "../../src/pets/idempotency.js";
import { insertPet } from "../../src/pets/pet-queries.js";
import { openSharedDatabase, recordStatements } from "../database-fixture.js";

const server = await openSharedDatabase();
await server.execute("insert into accounts (name, plan) values ('one', 'free')");
const lock = "pg_advisory_xact_lock";
const number = 730_203_051;

/** Statements of psql. Each adds a pet. */
const inserts = {
  "a plain insert": "insert into pets (name, category_id, status) values ('Rex', 1, 'sold')",
  "an insert of several pets":
    "insert into pets (name, category_id, status) select 'Rex', n, 'sold' from generate_series(1, 3) n",
  "an insert with a drawn id":
    "insert into pets select nextval(pg_get_serial_sequence('pets', 'id')), 'Rex', 1, 'sold'",
  "an insert by a common table expression":
    "with added as (insert into pets (name, category_id, status) values ('Rex', 1, 'sold') returning id) select from added",
  "a merge":
    "merge into pets using (values ('Rex')) as v (name) on false when not matched then insert (name, category_id, status) values (v.name, 1, 'sold')",
  "an insert that updates":
    "insert into pets (name, category_id, status) values ('Rex', 1, 'sold') on conflict (id) do update set name = 'Ada'",
};

describe("an insert takes the lock before it draws an id", () => {
  it.each(Object.entries(inserts))("%s", async (_kind, insert) => {
    const before = await drawn();
    await using blocker = await openSession(server.directUrl);
    await blocker.query(`begin; select ${lock}(${number})`);
    await using writer = await openSession(server.directUrl);
    const inserted = writer.query(insert);
    await expect.poll(() => waiting()).toBe(1);
    expect(await drawn()).toBe(before);
    await blocker.query("commit");
    await inserted;
    expect(await drawn()).not.toBe(before);
  });

  it.each(["plain", "with an idempotency key"])("a create of a service, %s", async (kind) => {
    await using database = server.open();
    const { run, ran } = recordStatements(database);
    const pet = { name: "Rex", categoryId: 1n, status: "sold" } as const;
    const create = () =>
      kind === "plain" ? run(insertPet, pet) : createOnceIn({ run })({ accountId: 1n, key: `${Math.random()}`, pet });
    const before = await drawn();
    await using blocker = await openSession(server.directUrl);
    await blocker.query(`begin; select ${lock}(${number})`);
    const created = create();
    await expect.poll(() => waiting()).toBe(1);
    expect(await drawn()).toBe(before);
    await blocker.query("commit");
    await created;
    expect(ran).toHaveLength(1);
    expect(await drawn()).toBe(`${BigInt(before) + 1n}`);
  });
});

describe("a transaction with an insert", () => {
  it("holds the lock until it ends, and no insert waits for another", async () => {
    await using first = await openSession(server.directUrl);
    await using second = await openSession(server.directUrl);
    for (const session of [first, second]) await session.query(`begin; ${inserts["a plain insert"]}`);
    expect(await openInserts()).toHaveLength(2);
    await first.query("commit");
    expect(await openInserts()).toHaveLength(1);
    await second.query("rollback");
    expect(await openInserts()).toHaveLength(0);
  });

  it("holds the lock until its savepoint is rolled back, and its pets with it", async () => {
    await using session = await openSession(server.directUrl);
    await session.query(`begin; savepoint before; ${inserts["a plain insert"]}; savepoint after`);
    await session.query("rollback to after");
    expect(await openInserts()).toHaveLength(1);
    await session.query("rollback to before");
    expect(await openInserts()).toHaveLength(0);
  });
});

async function drawn(): Promise<string> {
  const [row] = await server.execute<{ drawn: string }>("select drawn from observe_pet_inserts('{}')");
  return row?.drawn ?? "";
}

async function openInserts(): Promise<string[]> {
  const [row] = await server.execute<{ inserts: string[] }>(
    "select open_inserts as inserts from observe_pet_inserts('{}')",
  );
  return row?.inserts ?? [];
}

async function waiting(): Promise<number> {
  const [row] = await server.execute<{ n: number }>(
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and objid = ${number} and not granted`,
  );
  return row?.n ?? 0;
}
