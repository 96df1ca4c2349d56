import { createTestDatabase } from "@petstore/harness";
import pg from "pg";
import { expect, inject, test } from "vitest";

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

test("every test database is empty and apart from the others", async () => {
  await using one = await createTestDatabase();
  await using other = await createTestDatabase();
  expect(one.url).not.toBe(other.url);

  const client = await connect(one.url);
  await client.query("CREATE TABLE pets (id int)");
  await client.end();
  const elsewhere = await connect(other.url);
  const tables = await elsewhere.query("SELECT FROM pg_tables WHERE schemaname = 'public'");
  await elsewhere.end();
  expect(tables.rowCount).toBe(0);
});

test("disposing drops the database under an open connection", async () => {
  const database = await createTestDatabase();
  const forgotten = await connect(database.url);
  const cut = new Promise((resolve) => forgotten.once("end", resolve));
  await database[Symbol.asyncDispose]();
  await cut;

  const server = await connect(inject("postgresUrl"));
  const left = await server.query("SELECT FROM pg_database WHERE datname = $1", [
    new URL(database.url).pathname.slice(1),
  ]);
  await server.end();
  expect(left.rowCount).toBe(0);
});
