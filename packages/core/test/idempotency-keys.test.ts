import { expect, it } from "vitest";
import { createIdempotencySweep, createOnceIn } from "../src/pets/idempotency.js";
import type { NewPet } from "../src/pets/pet.js";
import { openSharedDatabase } from "./database-fixture.js";

const server = await openSharedDatabase();
await server.execute("insert into accounts (id, name, plan) overriding system value values (1, 'one', 'free')");
await server.execute("insert into pets (name, category_id, status) values ('Ada', 1, 'sold')");

it("forgets all keys that are older than 24 hours, by several instances at the same time, and no others", async () => {
  await remember(4_200, "24 hours 1 millisecond");
  await remember(3, "23 hours");
  await using database = server.open();
  const instances = Array.from({ length: 4 }, () => createIdempotencySweep(database));
  await Promise.all(instances.map((sweep) => sweep()));
  expect(await server.execute("select key from idempotency_keys where key like '%hours%' order by key")).toEqual([
    { key: "23 hours1" },
    { key: "23 hours2" },
    { key: "23 hours3" },
  ]);
});

it("concurrent creates of several instances with one key and two bodies add one pet: those with its body get it", async () => {
  await using database = server.open();
  // An instance knows only its own requests in flight.
  const instances = Array.from({ length: 4 }, () => createOnceIn(database));
  const pets = ["Bo", "Cy"].map((name): NewPet => ({ name, categoryId: 9007199254740993n, status: "sold" }));
  const creates = instances.flatMap((createOnce) =>
    Array.from({ length: 125 }, () => pets.map((pet) => createOnce({ accountId: 1n, key: "two bodies", pet }))).flat(),
  );
  const outcomes = await Promise.allSettled(creates);
  const created = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value);
  expect(created.map(({ pet }) => pet)).toEqual(Array(500).fill(created[0]?.pet));
  expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused).toMatchObject(Array(500).fill({ reason: { code: "IDEMPOTENCY_KEY_REUSED" } }));
  expect(await server.execute("select name from pets where name in ('Bo', 'Cy')")).toHaveLength(1);
});

it("a create for an account that was deleted since its key was checked is API_KEY_INVALID, and adds no pet", async () => {
  await using database = server.open();
  const pet: NewPet = { name: "Gone", categoryId: 1n, status: "sold" };
  const create = createOnceIn(database)({ accountId: 99n, key: "gone", pet });
  await expect(create).rejects.toMatchObject({ code: "API_KEY_INVALID" });
  expect(await server.execute("select 1 from pets where name = 'Gone'")).toEqual([]);
});

/** Stores keys of this age, by the clock of PostgreSQL. */
async function remember(count: number, age: string): Promise<void> {
  await server.execute(
    `insert into idempotency_keys (account_id, key, request_digest, pet_id, created_at)
     select 1, '${age}' || number, '', 1, now() - interval '${age}' from generate_series(1, ${count}) number`,
  );
}
