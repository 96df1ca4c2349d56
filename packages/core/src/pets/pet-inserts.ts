import DataLoader from "dataloader";
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
import { Problem } from "../problem.js";
import type { NewPet, Pet } from "./pet.js";
import { newPetColumnNames, newPetColumns, newPetFields, petColumns } from "./pet-queries.js";

/** Limits the length of an insert, and how many pets one failure can affect. */
const maxBatchSize = 64;

/**
 * Returns a function that adds a pet, and resolves with the stored one. Up to 64 pets added in one event loop iteration share
 * a statement. The function throws SERVICE_UNAVAILABLE if the database is unavailable or too busy.
 */
export function createAddPet(database: Pick<Database, "run">): (pet: NewPet) => Promise<Pet> {
  function insert(newPets: readonly NewPet[]): Promise<Pet[]> {
    return database.run(insertPets, {
      name: newPets.map(({ name }) => name),
      categoryId: newPets.map(({ categoryId }) => categoryId),
      status: newPets.map(({ status }) => status),
    });
  }

  /** If PostgreSQL refuses the statement, no pet is stored. Then each pet is inserted alone, so that only bad pets fail. */
  async function insertAll(newPets: readonly NewPet[]): Promise<(Pet | Problem)[]> {
    try {
      return await insert(newPets);
    } catch (problem) {
      if (newPets.length === 1 || Problem.from(problem).code === "SERVICE_UNAVAILABLE") throw problem;
      const insertAlone = async (newPet: NewPet) => (await insert([newPet]))[0] as Pet;
      return Promise.all(
        newPets.map((newPet) => insertAlone(newPet).catch((refused: unknown) => Problem.from(refused))),
      );
    }
  }

  const inserts = new DataLoader<NewPet, Pet>(insertAll, { cache: false, maxBatchSize, batchScheduleFn: setImmediate });

  return (pet) => inserts.load(pet);
}

type NewPetArrays = { readonly [Field in keyof NewPet]: readonly NewPet[Field][] };

/** Returns the pets in the order of the input, with ascending identifiers. */
const insertPets = statement<NewPetArrays, Pet>("write", "insert-pets", (db, parameter) => {
  const names = sql.join(newPetColumnNames.map((name) => sql.ref(name)));
  const arrays = newPetFields.map((field) => sql`${parameter(field)}::${sql.raw(newPetColumns[field].type)}[]`);
  return db
    .insertInto("pets")
    .columns(newPetColumnNames)
    .expression(
      sql`select ${names} from unnest(${sql.join(arrays)}) with ordinality as added (${names}, place) order by place`,
    )
    .returning(petColumns);
});
