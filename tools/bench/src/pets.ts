import pg from "pg";
import type { CompareDeps } from "./comparison.js";

/** The status of each pet, as SQL says it of its `number`, from 1 upwards. */
export type PetLayout = (count: number) => string;

const batch = 500_000;

/** Adds pets to a migrated, empty store; their ids are their numbers. */
export async function addPets(
  databaseUrl: string,
  count: number,
  layout: PetLayout,
  { progress, signal }: CompareDeps,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off");
    for (let first = 1; first <= count; first += batch) {
      signal.throwIfAborted();
      const last = Math.min(count, first + batch - 1);
      await client.query(
        `insert into pets (name, category_id, status)
         select 'Pet ' || number, 1 + number % 50, (${layout(count)})::pet_status
         from generate_series(${first}, ${last}) number`,
      );
      if (count > batch) progress(`${last.toLocaleString("en")} of ${count.toLocaleString("en")} pets added`);
    }
    // Otherwise the autovacuum does it, in the middle of a round.
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

/** Runs one query on a connection of its own. */
export async function ask<Row extends pg.QueryResultRow>(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
