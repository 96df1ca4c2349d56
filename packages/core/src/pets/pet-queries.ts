/** Reads pets. Every call throws SERVICE_UNAVAILABLE if the database is unavailable or too busy. */
import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
import type { Pet, PetStatus } from "./pet.js";
import { petColumns } from "./pet-columns.js";

interface PetRange {
  /** Pets with a greater id, in ascending order. */
  readonly after: bigint;
  readonly status: PetStatus | undefined;
  readonly limit: number;
}

export interface PetRangePage {
  /** At most `limit` pets, ascending by id. */
  readonly pets: readonly Pet[];
  readonly hasMore: boolean;
}

export async function listPets(database: Pick<Database, "run">, range: PetRange): Promise<PetRangePage> {
  const { after, status, limit } = range;
  // One row more than the client asked for tells whether another page exists, without counting.
  const found = await (status === undefined
    ? database.run(selectPets, { after, limit: limit + 1 })
    : database.run(selectPetsByStatus, { after, status, limit: limit + 1 }));
  return { pets: found.slice(0, limit), hasMore: found.length > limit };
}

export async function findPet(database: Pick<Database, "run">, id: bigint): Promise<Pet | undefined> {
  const [pet] = await database.run(selectPet, { id });
  return pet;
}

const selectPets = statement<{ after: bigint; limit: number }, Pet>("pipelined read", "select-pets", (db, parameter) =>
  db.selectFrom("pets").select(petColumns).where("id", ">", parameter("after")).orderBy("id").limit(parameter("limit")),
);

/**
 * `(status, id) > ($1, $2) and status <= $1` selects the same rows as `status = $1 and id > $2`. With `order by status, id`,
 * only the index on (status, id) returns the rows without a sort. For `status = $1 and id > $2 order by id`, PostgreSQL may
 * scan the primary key instead, and read every pet of another status.
 */
const selectPetsByStatus = statement<{ after: bigint; status: PetStatus; limit: number }, Pet>(
  "pipelined read",
  "select-pets-by-status",
  (db, parameter) =>
    db
      .selectFrom("pets")
      .select(petColumns)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple("status", "id"), ">", tuple(parameter("status"), parameter("after"))),
      )
      .where("status", "<=", parameter("status"))
      .orderBy("status")
      .orderBy("id")
      .limit(parameter("limit")),
);

const selectPet = statement<{ id: bigint }, Pet>("pipelined read", "select-pet", (db, parameter) =>
  db.selectFrom("pets").select(petColumns).where("id", "=", parameter("id")),
);
