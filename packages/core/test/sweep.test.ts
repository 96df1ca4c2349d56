import { openSession } from "@petstore/harness/postgres";
import { beforeEach, expect, it } from "vitest";
import type { Database } from "../src/database/database.js";
import { createIdempotencySweep, idempotencyStatements } from "../src/pets/idempotency.js";
import { openSharedDatabase, recordStatements } from "./database-fixture.js";

const server = await openSharedDatabase();
await server.execute("insert into accounts (id, name, plan) overriding system value values (1, 'one', 'free')");
await server.execute("insert into pets (name, category_id, status) values ('Ada', 1, 'sold')");

beforeEach(() => server.execute("truncate idempotency_keys"));

it("deletes the oldest rows first, a thousand at once, and begins where the last batch has ended", async () => {
  await storeOld(2_500);
  await using database = server.open();
  const { run, ran } = recordStatements(database);
  const left: unknown[] = [];
  const observed: Pick<Database, "run"> = {
    async run(statement, values) {
      const rows = await run(statement, values);
      left.push((await server.execute("select count(*)::integer, max(key::integer) from idempotency_keys"))[0]);
      return rows;
    },
  };
  const sweep = createIdempotencySweep(observed);
  await sweep();
  expect(left).toEqual([
    { count: 1_500, max: 1_500 },
    { count: 500, max: 500 },
    { count: 0, max: null },
  ]);
  await sweep();
  const places = ran.map(({ values }) => (values as { readonly sweptTo: string }).sweptTo);
  expect(places).toHaveLength(4);
  expect(places[0]).toBe("-infinity");
  const [{ isAscending }] = (await server.execute(
    `select '${places[1]}'::timestamptz < '${places[2]}' and '${places[2]}'::timestamptz < '${places[3]}' as "isAscending"`,
  )) as [{ readonly isAscending: boolean }];
  expect(isAscending).toBe(true);
});

it("deletes nothing while another instance deletes, and continues when that one has ended", async () => {
  await storeOld(10);
  await using database = server.open();
  const sweep = createIdempotencySweep(database);
  {
    await using other = await openSession(server.directUrl);
    await other.query("begin; select pg_advisory_xact_lock(7302030513)");
    await sweep();
    expect(await server.execute("select from idempotency_keys")).toHaveLength(10);
  }
  const sweepAndLook = async () => {
    await sweep();
    return server.execute("select from idempotency_keys");
  };
  await expect.poll(sweepAndLook, { timeout: 20_000 }).toEqual([]);
});

it("waits for no row that a request has locked", async () => {
  await storeOld(10);
  await using database = server.open();
  await using request = await openSession(server.directUrl);
  await request.query("begin; update idempotency_keys set created_at = now() where key = '7'");
  await createIdempotencySweep(database)();
  await request.query("commit");
  expect(await server.execute("select key from idempotency_keys")).toEqual([{ key: "7" }]);
});

it("finds the rows by the index on their time, and reads no other index, even if most rows are old", async () => {
  await storeOld(20_000);
  await server.execute("vacuum analyze idempotency_keys");
  const text = idempotencyStatements.find(({ name }) => name === "delete-forgotten-idempotency-keys")?.text;
  const place: Readonly<Record<string, string>> = {
    $1: "'-infinity'",
    $2: "'24 hours'",
    $3: "'-infinity'",
    $4: "'24 hours'",
  };
  const lines = await server.execute(`explain ${text?.replaceAll(/\$\d/g, (name) => place[name] ?? "")}`);
  const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
  expect([...plan.matchAll(/\w+ Scan using (\w+)/g)].map(([, index]) => index)).toEqual([
    "idempotency_keys_created_at",
  ]);
  expect(plan).toContain("Tid Scan on idempotency_keys");
  expect(plan).not.toMatch(/Seq Scan|Bitmap|Sort/);
});

/** Stores old keys in random order. The first one is the youngest. */
async function storeOld(count: number): Promise<void> {
  await server.execute(
    `insert into idempotency_keys (account_id, key, request_digest, pet_id, created_at)
     select 1, number, '', 1, now() - interval '24 hours' - number * interval '1 second'
     from generate_series(1, ${count}) number order by random()`,
  );
}
