import { AsyncLocalStorage } from "node:async_hooks";
import { shared } from "@petstore/harness";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DatabaseCall, databaseCalls } from "../src/database-calls.js";
import type { NewPet } from "../src/pets/pet.js";
import { createAddPet } from "../src/pets/pet-inserts.js";
import { selectPet } from "../src/pets/pet-queries.js";
import { openSharedDatabase } from "./database-fixture.js";

const cat: NewPet = { name: "Tom", categoryId: 1n, status: "available" };

const server = await openSharedDatabase();
const database = await shared(server.open());
const addPet = createAddPet(database);

describe("pets that are added at once", () => {
  it("share a statement for every 64, and each caller gets its own pet, in the order of the calls", async () => {
    const names = ["plain", '"quoted", {}', "\\", "NULL", "🐈"];
    const pets = Array.from(
      { length: 130 },
      (_, place): NewPet => ({
        name: names[place % 5] ?? "",
        categoryId: 9223372036854775807n - BigInt(place),
        status: place % 2 === 0 ? "sold" : "pending",
      }),
    );
    const queries = recordQueries();
    const added = await Promise.all(pets.map((pet) => addPet(pet)));
    expect(queries).toEqual(Array(3).fill("insert-pets"));
    expect(added).toEqual(pets.map((pet, place) => ({ id: added[place]?.id, ...pet })));
    const ids = added.map(({ id }) => id);
    const firstOf64 = ids.slice(0, 64);
    // Ascending, but not without gaps: the three statements run at once, and all take their ids from one sequence.
    expect(firstOf64).toEqual(firstOf64.toSorted((a, b) => (a < b ? -1 : 1)));
    const stored = await Promise.all(ids.map((id) => database.run(selectPet, { id })));
    expect(stored.flat()).toEqual(added);
  });

  it("belong to the trace of the first, and go on in the context of each caller", async () => {
    const request = new AsyncLocalStorage<string>();
    const queries = recordQueries(() => request.getStore());
    const add = (name: string) =>
      request.run(name, async () => {
        await addPet(cat);
        return request.getStore();
      });
    expect(await Promise.all(["first", "second"].map(add))).toEqual(["first", "second"]);
    expect(queries).toEqual(["first"]);
  });

  it("are added without the pet that the server refuses", async () => {
    // The validator would refuse it.
    const refused: NewPet = { ...cat, categoryId: 9223372036854775808n };
    const outcomes = await Promise.allSettled([cat, refused, cat].map((pet) => addPet(pet)));
    expect(outcomes).toMatchObject([
      { status: "fulfilled", value: cat },
      { status: "rejected", reason: { code: "INTERNAL_ERROR" } },
      { status: "fulfilled", value: cat },
    ]);
  });

  it("all fail while the database is unavailable, and are not added twice", async () => {
    await using nowhere = server.open({ url: "postgres://127.0.0.1:1/nowhere" });
    const queries = recordQueries();
    const add = createAddPet(nowhere);
    const outcomes = await Promise.allSettled([cat, cat, cat].map((pet) => add(pet)));
    expect(outcomes).toMatchObject(Array(3).fill({ status: "rejected", reason: { code: "SERVICE_UNAVAILABLE" } }));
    expect(queries).toEqual(["insert-pets"]);
  });
});

/** Records each statement that is run from now on until the end of the test, by default its name. */
function recordQueries(read = (query: DatabaseCall): string | undefined => query.name): (string | undefined)[] {
  const recorded: (string | undefined)[] = [];
  const start = (message: unknown) => void recorded.push(read(message as DatabaseCall));
  databaseCalls.start.subscribe(start);
  onTestFinished(() => void databaseCalls.start.unsubscribe(start));
  return recorded;
}
