import { expect, it } from "vitest";
import { type PetStatus, petStatuses } from "../src/pets/pet.js";
import { selectPetsByStatus } from "../src/pets/pet-queries.js";
import { openSharedDatabase } from "./database-fixture.js";

const pets = 20_000;
const limit = 20;
/** Pets of each status come before it and after it. */
const after = BigInt(pets / 2 + 100);

const server = await openSharedDatabase();
await server.execute(
  // All old pets are sold, half of the new ones are available, and a few are pending. By the average, a planner expects
  // an available pet among any four rows, and would read half of the table.
  `insert into pets (name, category_id, status)
   select 'Pet ' || number, 1, (case
     when number % 500 = 0 then 'pending'
     when number > ${pets / 2} and number % 2 = 0 then 'available'
     else 'sold' end)::pet_status
   from generate_series(1, ${pets}) number`,
);
await server.execute("vacuum analyze pets");

it.each(petStatuses.flatMap((status) => ["custom", "generic"].map((plan) => ({ plan, status }))))(
  "a list of pets that are $status, from the middle of the table, reads no other pet, by a $plan plan",
  async ({ plan, status }) => {
    const before = await rowsRead();
    const pets = await listOnce(plan, status);
    const byId = pets.toSorted((one, other) => Number(one.id - other.id));
    expect(pets).toMatchObject(Array.from({ length: pets.length }, (_, place) => ({ id: byId[place]?.id, status })));
    expect(pets.length).toBeGreaterThanOrEqual(limit);
    await expect.poll(rowsRead).toEqual({ ...before, byStatus: before.byStatus + pets.length });
  },
);

async function listOnce(plan: string, status: PetStatus) {
  const url = new URL(server.directUrl);
  url.searchParams.set("options", `-c plan_cache_mode=force_${plan}_plan`);
  await using database = server.open({ url: url.href, poolSize: 1, readTimeoutMs: 5_000 });
  // As the catalogue does, which wants to know whether another page follows.
  return await database.run(selectPetsByStatus, { after, status, limit: limit + 1 });
}

/** Index entries, and rows without an index, counted since the database was created, for sessions that have ended. */
async function rowsRead() {
  const [row] = await server.execute<{ byId: number; byStatus: number; sequential: number }>(
    `select
       (select idx_tup_read::int from pg_stat_user_indexes where indexrelname = 'pets_pkey') as "byId",
       (select idx_tup_read::int from pg_stat_user_indexes where indexrelname = 'pets_status_id') as "byStatus",
       (select seq_tup_read::int from pg_stat_user_tables where relname = 'pets') as sequential`,
  );
  if (row === undefined) throw new Error("the server keeps no statistics");
  return row;
}
