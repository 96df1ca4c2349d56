/** The columns of the table `pets`. Every statement that reads or adds pets takes them from here. */
import type { Tables } from "../database/tables.js";
import type { NewPet } from "./pet.js";

/** With the names of `Pet`, so that a row is a pet. */
export const petColumns = ["pets.id", "pets.name", "pets.category_id as categoryId", "pets.status"] as const;

/** The column of each field of a new pet, and its type in PostgreSQL. */
export const newPetColumns: Readonly<Record<keyof NewPet, { name: keyof Tables["pets"]; type: string }>> = {
  name: { name: "name", type: "text" },
  categoryId: { name: "category_id", type: "bigint" },
  status: { name: "status", type: "pet_status" },
};

export const newPetFields: readonly (keyof NewPet)[] = Object.keys(newPetColumns) as (keyof NewPet)[];

/** In the order of `newPetFields`. */
export const newPetColumnNames: readonly (keyof Tables["pets"])[] = Object.values(newPetColumns).map(
  ({ name }) => name,
);
