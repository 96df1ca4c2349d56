import type { Database } from "../database/database.js";
import { query, statement } from "../database/statement.js";
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
    list({ after, status, limit }) {
      return status === undefined
        ? database.run(selectPets, { after, limit })
        : database.run(selectPetsByStatus, { after, status, limit });
    },
    async find(id) {
      const [pet] = await database.run(selectPet, { id });
      return pet;
    },
    async add(newPet) {
      const [pet] = await database.run(insertPet, newPet);
      if (pet === undefined) throw new Error("the inserted animal was not returned");
      return pet;
    },
  };
}

/** Named as in `Pet`, so that a row is an animal as it arrives. */
export const petColumns = ["pets.id", "pets.name", "pets.category_id as categoryId", "pets.status"] as const;

const selectPets = query<{ after: bigint; limit: number }, Pet>("select-pets", (db, slot) =>
  db.selectFrom("pets").select(petColumns).where("id", ">", slot("after")).orderBy("id").limit(slot("limit")),
);

/**
 * In this order only the index on (status, id) has the animals without a sort. Asked for `status = $1 and id > $2 order by
 * id`, PostgreSQL may walk the primary key instead, and leave out the other statuses for as long as the table is.
 */
const selectPetsByStatus = query<{ after: bigint; status: PetStatus; limit: number }, Pet>(
  "select-pets-by-status",
  (db, slot) =>
    db
      .selectFrom("pets")
      .select(petColumns)
      .where(({ eb, refTuple, tuple }) => eb(refTuple("status", "id"), ">", tuple(slot("status"), slot("after"))))
      .where("status", "<=", slot("status"))
      .orderBy("status")
      .orderBy("id")
      .limit(slot("limit")),
);

const selectPet = query<{ id: bigint }, Pet>("select-pet", (db, slot) =>
  db.selectFrom("pets").select(petColumns).where("id", "=", slot("id")),
);

const insertPet = statement<NewPet, Pet>("insert-pet", (db, slot) =>
  db
    .insertInto("pets")
    .values({ name: slot("name"), category_id: slot("categoryId"), status: slot("status") })
    .returning(petColumns),
);
