import { AsyncLocalStorage } from "node:async_hooks";
import { shared } from "@petstore/harness";
import { describe, expect, it } from "vitest";
import type { Database } from "../src/database/database.js";
import type { NewPet } from "../src/pets/pet.js";
import { createAddPet } from "../src/pets/pet-inserts.js";
import { selectPet } from "../src/pets/pet-queries.js";
import { openSharedDatabase, recordStatements } from "./database-fixture.js";

const cat: NewPet = { name: "Tom", categoryId: 1n, status: "available" };

const server = await openSharedDatabase();
const database = await shared(server.open());

describe("pets that are added at once", () => {
  it("share a statement for every 64, in the trace of the first, and each caller gets its own pet, in the order of the calls", async () => {
    const names = ["plain", '"quoted", {}', "\\", "NULL", "🐈"];
    const pets = Array.from(
      { length: 130 },
      (_, place): NewPet => ({
        name: names[place % 5] ?? "",
        categoryId: 9223372036854775807n - BigInt(place),
        status: place % 2 === 0 ? "sold" : "pending",
      }),
    );
    const request = new AsyncLocalStorage<number>();
    const traced: unknown[] = [];
    const run: Database["run"] = (statement, values) => {
      traced.push(request.getStore());
      return database.run(statement, values);
    };
    const addPet = createAddPet({ run });
    const added = await Promise.all(pets.map((pet, place) => request.run(place, addPet, pet)));
    expect(traced).toEqual([0, 64, 128]);
    expect(added).toEqual(pets.map((pet, place) => ({ id: added[place]?.id, ...pet })));
    const ids = added.map(({ id }) => id);
    const firstOf64 = ids.slice(0, 64);
    // Ascending, but not without gaps: the three statements run at once, and all take their ids from one sequence.
    expect(firstOf64).toEqual(firstOf64.toSorted((a, b) => (a < b ? -1 : 1)));
    const stored = await Promise.all(ids.map((id) => database.run(selectPet, { id })));
    expect(stored.flat()).toEqual(added);
  });

  it("are added without the pet that the server refuses", async () => {
    // The validator would refuse it.
    const refused: NewPet = { ...cat, categoryId: 9223372036854775808n };
    const outcomes = await Promise.allSettled([cat, refused, cat].map(createAddPet(database)));
    expect(outcomes).toMatchObject([
      { status: "fulfilled", value: cat },
      { status: "rejected", reason: { code: "INTERNAL_ERROR" } },
      { status: "fulfilled", value: cat },
    ]);
  });

  it("all fail while the database is unavailable, and are not added twice", async () => {
    await using nowhere = server.open({ url: "postgres://127.0.0.1:1/nowhere" });
    const { run, ran } = recordStatements(nowhere);
    const outcomes = await Promise.allSettled([cat, cat, cat].map(createAddPet({ run })));
    expect(outcomes).toMatchObject(Array(3).fill({ status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } }));
    expect(ran).toMatchObject([{ name: "insert-pets" }]);
  });
});
