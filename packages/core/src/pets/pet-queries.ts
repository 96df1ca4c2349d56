/** The statements that read pets. A list is in ascending order of id, and begins after an id. */
import { type Statement, statement } from "../database/statement.js";
import type { Pet, PetStatus } from "./pet.js";
import { petColumns } from "./pet-columns.js";

export const selectPets: Statement<{ after: bigint; limit: number }, Pet> = statement(
  "pipelined read",
  "select-pets",
  (db, parameter) =>
    db
      .selectFrom("pets")
      .select(petColumns)
      .where("id", ">", parameter("after"))
      .orderBy("id")
      .limit(parameter("limit")),
);

/**
 * `(status, id) > ($1, $2) and status <= $1` selects the same rows as `status = $1 and id > $2`. With `order by status, id`,
 * only the index on (status, id) returns the rows without a sort. For `status = $1 and id > $2 order by id`, PostgreSQL may
 * scan the primary key instead, and read every pet of another status.
 */
export const selectPetsByStatus: Statement<{ after: bigint; status: PetStatus; limit: number }, Pet> = statement(
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

export const selectPet: Statement<{ id: bigint }, Pet> = statement("pipelined read", "select-pet", (db, parameter) =>
  db.selectFrom("pets").select(petColumns).where("id", "=", parameter("id")),
);
