import DataLoader from "dataloader";
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
import { Problem } from "../problem.js";
import type { NewPet, Pet, PetStatus } from "./pet.js";

interface PetRange {
  /** Pets with a greater id, in ascending order. */
  readonly after: bigint;
  readonly status: PetStatus | undefined;
  readonly limit: number;
}

export interface PetRangePage {
  /** Ascending by id. */
  readonly pets: readonly Pet[];
  /** True if the range has more pets. */
  readonly hasMore: boolean;
}

/** Every call throws SERVICE_UNAVAILABLE if the database is unavailable or too busy. */
export interface PetRepository {
  /** At most `limit` pets. */
  list(range: PetRange): Promise<PetRangePage>;
  find(id: bigint): Promise<Pet | undefined>;
  /** Resolves with the stored pet, which has its id. Pets added in one event loop iteration share a statement. */
  add(pet: NewPet): Promise<Pet>;
}

/** Bounds the length of an insert, and how many creates one failure reaches. */
const maxBatchSize = 64;

export function createPetRepository(database: Pick<Database, "run">): PetRepository {
  function select({ after, status, limit }: PetRange): Promise<Pet[]> {
    return status === undefined
      ? database.run(selectPets, { after, limit })
      : database.run(selectPetsByStatus, { after, status, limit });
  }

  /** One statement, so that all pets share one commit. */
  async function insert(newPets: readonly NewPet[]): Promise<Pet[]> {
    const pets = await database.run(insertPets, {
      names: newPets.map(({ name }) => name),
      categoryIds: newPets.map(({ categoryId }) => categoryId),
      statuses: newPets.map(({ status }) => status),
    });
    if (pets.length !== newPets.length) throw new Error("not every inserted pet was returned");
    return pets;
  }

  /** If PostgreSQL refuses the statement, it stored none of the pets: each is inserted alone, so that only bad ones fail. */
  async function insertAll(newPets: readonly NewPet[]): Promise<(Pet | Problem)[]> {
    try {
      return await insert(newPets);
    } catch (problem) {
      if (newPets.length === 1 || !wasRefused(problem)) throw problem;
      const insertAlone = async (newPet: NewPet) => (await insert([newPet]))[0] as Pet;
      return Promise.all(
        newPets.map((newPet) => insertAlone(newPet).catch((refused: unknown) => Problem.from(refused))),
      );
    }
  }

  const inserts = new DataLoader<NewPet, Pet>(insertAll, { cache: false, maxBatchSize, batchScheduleFn: setImmediate });

  return {
    async list(range) {
      // One row more than the client asked for tells whether another page exists, without counting.
      const found = await select({ ...range, limit: range.limit + 1 });
      return { pets: found.slice(0, range.limit), hasMore: found.length > range.limit };
    },
    async find(id) {
      const [pet] = await database.run(selectPet, { id });
      return pet;
    },
    add: (newPet) => inserts.load(newPet),
  };
}

/** With the names of `Pet`, so that a row is a pet. */
export const petColumns = ["pets.id", "pets.name", "pets.category_id as categoryId", "pets.status"] as const;

const selectPets = statement<{ after: bigint; limit: number }, Pet>("pipelined read", "select-pets", (db, parameter) =>
  db.selectFrom("pets").select(petColumns).where("id", ">", parameter("after")).orderBy("id").limit(parameter("limit")),
);

/**
 * Only the index on (status, id) returns this order without a sort. For `status = $1 and id > $2 order by id`, PostgreSQL
 * may scan the primary key instead, and read every pet of another status.
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

interface NewPets {
  names: string[];
  categoryIds: bigint[];
  statuses: PetStatus[];
}

/** Returns the pets in the order of the input, with ascending identifiers. */
const insertPets = statement<NewPets, Pet>("write", "insert-pets", (db, parameter) =>
  db
    .insertInto("pets")
    .columns(["name", "category_id", "status"])
    .expression(
      sql`select name, category_id, status from unnest(
        ${parameter("names")}::text[], ${parameter("categoryIds")}::bigint[], ${parameter("statuses")}::pet_status[]
      ) with ordinality as added (name, category_id, status, place) order by place`,
    )
    .returning(petColumns),
);

function wasRefused(problem: unknown): boolean {
  return problem instanceof Problem && problem.code !== "SERVICE_UNAVAILABLE";
}
