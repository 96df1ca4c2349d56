import { administratorUrl, type EmbeddedPostgres } from "@petstore/embedded-postgres";
import { expect, test } from "vitest";
import { openAlone, query, stoppedDirectory } from "./test-server.js";

const databases = ["postgres", "template1", "petstore"];

test("services connect to neither postgres nor template1 and create no large object", async () => {
  await using directory = await stoppedDirectory();
  await using database = (await openAlone(directory.path)).database;
  await expectRestricted(database, directory.path);
});

test("the owner creates databases, in which services create no large object either", async () => {
  await using directory = await stoppedDirectory();
  await using database = (await openAlone(directory.path)).database;
  await query(database.ownerUrl, "CREATE DATABASE another");
  await query(inDatabase(database.ownerUrl, "another"), "CREATE TABLE mine (id int)");
  await expect(query(inDatabase(database.url, "another"), "SELECT lo_create(0)")).rejects.toMatchObject({
    code: "42501",
  });
  await query(database.ownerUrl, "DROP DATABASE another");
});

test("an existing data directory gets the same limits at its next start", async () => {
  await using directory = await stoppedDirectory();
  const { database: first } = await openAlone(directory.path);
  const administrator = await administratorUrl(directory.path);
  for (const name of databases) {
    await query(
      inDatabase(administrator, name),
      "GRANT EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) TO PUBLIC",
    );
  }
  await query(administrator, "GRANT CONNECT, TEMPORARY ON DATABASE postgres TO PUBLIC");
  await query(administrator, "GRANT CONNECT ON DATABASE template1 TO PUBLIC");
  await query(inDatabase(first.url, "postgres"), "CREATE TEMPORARY TABLE mine (id int)");
  await query(first.url, "SELECT lo_create(0)");
  await first[Symbol.asyncDispose]();

  await using database = (await openAlone(directory.path)).database;
  await expectRestricted(database, directory.path);
});

async function expectRestricted({ url }: EmbeddedPostgres, directory: string): Promise<void> {
  for (const name of ["postgres", "template1"]) {
    await expect(query(inDatabase(url, name), "SELECT 1"), name).rejects.toMatchObject({ code: "42501" });
  }
  for (const call of ["lo_create(0)", "lo_creat(-1)", "lo_from_bytea(0, 'content')"]) {
    await expect(query(url, `SELECT ${call}`), call).rejects.toMatchObject({ code: "42501" });
  }
  const administrator = await administratorUrl(directory);
  for (const name of databases) {
    const granted = await query(
      inDatabase(administrator, name),
      `SELECT proname FROM pg_proc WHERE proname IN ('lo_create', 'lo_creat', 'lo_from_bytea')
       AND has_function_privilege('public', oid, 'EXECUTE')`,
    );
    expect(granted, name).toEqual([]);
  }
}

function inDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: name }).href;
}
