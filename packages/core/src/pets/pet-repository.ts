import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
import type { NewPet, Pet, PetStatus } from "./pet.js";

interface PetRange {
  /** Animals with a greater id, in ascending order. */
  readonly after: bigint;
  readonly status: PetStatus | undefined;
  readonly limit: number;
}

export interface PetRepository {
  list(range: PetRange): Promise<Pet[]>;
  find(id: bigint): Promise<Pet | undefined>;
  add(pet: NewPet): Promise<Pet>;
}

export function createPetRepository(database: Database): PetRepository {
  return {
    async list({ after, status, limit }) {
      const rows =
        status === undefined
          ? await database.run(selectPets, { after, limit })
          : await database.run(selectPetsByStatus, { after, status, limit });
      return rows.map(toPet);
    },
    async find(id) {
      const [row] = await database.run(selectPet, { id });
      return row && toPet(row);
    },
    async add({ name, categoryId, status }) {
      const [row] = await database.run(insertPet, { name, categoryId, status });
      if (row === undefined) throw new Error("the inserted animal was not returned");
      return toPet(row);
    },
  };
}

export interface PetRow {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus;
}

export const petColumns = ["pets.id", "pets.name", "pets.category_id", "pets.status"] as const;

export function toPet(row: PetRow): Pet {
  return { id: row.id, name: row.name, categoryId: row.category_id, status: row.status };
}

const selectPets = statement<{ after: bigint; limit: number }, PetRow>("select-pets", (db, slot) =>
  db.selectFrom("pets").select(petColumns).where("id", ">", slot("after")).orderBy("id").limit(slot("limit")),
);

const selectPetsByStatus = statement<{ after: bigint; status: PetStatus; limit: number }, PetRow>(
  "select-pets-by-status",
  (db, slot) =>
    db
      .selectFrom("pets")
      .select(petColumns)
      .where("status", "=", slot("status"))
      .where("id", ">", slot("after"))
      .orderBy("id")
      .limit(slot("limit")),
);

const selectPet = statement<{ id: bigint }, PetRow>("select-pet", (db, slot) =>
  db.selectFrom("pets").select(petColumns).where("id", "=", slot("id")),
);

const insertPet = statement<NewPet, PetRow>("insert-pet", (db, slot) =>
  db
    .insertInto("pets")
    .values({ name: slot("name"), category_id: slot("categoryId"), status: slot("status") })
    .returning(petColumns),
);
