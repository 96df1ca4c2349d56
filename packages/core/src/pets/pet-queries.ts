/** The columns of the table `pets`, and its statements. A list begins after an id, and ascends by id. */
import { sql } from "kysely";
import { type Statement, statement } from "../database/statement.js";
import type { Tables } from "../database/tables.js";
import type { NewPet, Pet, PetStatus } from "./pet.js";

/** With the names of `Pet`, so that a row is a pet. */
export const petColumns = ["pets.id", "pets.name", "pets.category_id as categoryId", "pets.status"] as const;

const newPetColumns: Readonly<Record<keyof NewPet, keyof Tables["pets"]>> = {
  name: "name",
  categoryId: "category_id",
  status: "status",
};

export const newPetFields: readonly (keyof NewPet)[] = Object.keys(newPetColumns) as (keyof NewPet)[];

/** In the order of `newPetFields`. */
export const newPetColumnNames: readonly (keyof Tables["pets"])[] = Object.values(newPetColumns);

export const insertPet: Statement<NewPet, Pet> = statement("write", "insert-pet", (db, parameter) =>
  db
    .insertInto("pets")
    .columns(newPetColumnNames)
    .expression(sql`values (${sql.join(newPetFields.map((field) => parameter(field)))})`)
    .returning(petColumns),
);

export const selectPets: Statement<{ after: bigint; limit: number }, Pet> = statement(
  "read",
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
 * scan the primary key instead, and read every pet of another status. Neither other indexes nor statistics prevent this.
 */
export const selectPetsByStatus: Statement<{ after: bigint; status: PetStatus; limit: number }, Pet> = statement(
  "read",
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

export const selectPet: Statement<{ id: bigint }, Pet> = statement("read", "select-pet", (db, parameter) =>
  db.selectFrom("pets").select(petColumns).where("id", "=", parameter("id")),
);
