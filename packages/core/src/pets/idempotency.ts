/**
 * A create that can be repeated (draft-ietf-httpapi-idempotency-key-header). The first request with a key stores the pet
 * and the key in one statement, so neither exists without the other. A later request reads the stored pet. A concurrent
 * one waits: in this process for the first request, or in PostgreSQL until the row of the key is committed.
 */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { isRowLockTimeout, sqlState } from "../database/database-errors.js";
import { type NamedSql, statement } from "../database/statement.js";
import { createSweep, sweepStatement } from "../database/sweep.js";
import { Problem } from "../problem.js";
import type { AllFields, NewPet, Pet } from "./pet.js";
import { newPetColumnNames, newPetFields, petColumns } from "./pet-queries.js";

/** By the clock of PostgreSQL, because the clocks of the instances may differ. */
const keptFor = "24 hours";

interface IdempotentCreate {
  readonly accountId: bigint;
  readonly key: string;
  readonly pet: NewPet;
}

export interface CreatedPet {
  readonly pet: Pet;
  /** True if an earlier request with the same key created it. */
  readonly replayed: boolean;
}

/**
 * Returns a function that creates a pet once per key. It throws IDEMPOTENCY_KEY_REUSED for another body,
 * IDEMPOTENCY_IN_PROGRESS if the key was just deleted or the first request is still running after the lock timeout, and
 * API_KEY_INVALID if the account no longer exists.
 */
export function createOnceIn(database: Pick<Database, "run">): (create: IdempotentCreate) => Promise<CreatedPet> {
  const inFlight = new Map<string, Promise<CreatedPet>>();

  return async (create) => {
    const digest = digestPet(create.pet);
    // Includes the digest: if two bodies have one key, both must reach PostgreSQL, which decides which came first.
    const mapKey = `${create.accountId} ${digest.toString("base64")} ${create.key}`;
    // A retry waits here for the first request, so it takes no connection of the pool.
    const first = inFlight.get(mapKey);
    if (first !== undefined) return { pet: (await first).pet, replayed: true };
    const creation = createOrReplay(database, create, digest).finally(() => inFlight.delete(mapKey));
    inFlight.set(mapKey, creation);
    return creation;
  };
}

/** Returns a function that deletes every key older than 24 hours. */
export function createIdempotencySweep(database: Pick<Database, "run">): () => Promise<void> {
  return createSweep(database, deleteForgotten, keptFor);
}

async function createOrReplay(
  database: Pick<Database, "run">,
  { accountId, key, pet }: IdempotentCreate,
  digest: Buffer,
): Promise<CreatedPet> {
  const [created] = await database.run(insertOnce, { accountId, key, digest, ...pet }).catch(throwReason);
  if (created !== undefined) return { pet: created, replayed: false };
  const [first] = await database.run(selectFirst, { accountId, key });
  if (first === undefined) throw new Problem("IDEMPOTENCY_IN_PROGRESS", undefined, { retryAfterSeconds: 1 });
  const { request_digest: firstDigest, ...petOfFirst } = first;
  if (!firstDigest.equals(digest)) throw new Problem("IDEMPOTENCY_KEY_REUSED");
  return { pet: petOfFirst, replayed: true };
}

const insertOnce = statement<NewPet & Omit<IdempotentCreate, "pet"> & { digest: Buffer }, Pet>(
  "write",
  "insert-pet-once",
  (db, parameter) =>
    db
      .with(
        "claim",
        () => sql`(
          insert into idempotency_keys (account_id, key, request_digest, pet_id, created_at)
          values (
            ${parameter("accountId")}, ${parameter("key")}, ${parameter("digest")},
            nextval(pg_get_serial_sequence('pets', 'id')), now()
          )
          on conflict (account_id, key) do update
          set request_digest = excluded.request_digest, pet_id = excluded.pet_id, created_at = excluded.created_at
          where idempotency_keys.created_at < now() - interval ${sql.lit(keptFor)}
          returning pet_id
        )`,
      )
      .insertInto("pets")
      .columns(["id", ...newPetColumnNames])
      .expression(sql`select pet_id, ${sql.join(newPetFields.map((field) => parameter(field)))} from claim`)
      .returning(petColumns),
);

const selectFirst = statement<{ accountId: bigint; key: string }, Pet & { request_digest: Buffer }>(
  "read",
  "select-pet-by-idempotency-key",
  (db, parameter) =>
    db
      .selectFrom("idempotency_keys")
      .innerJoin("pets", "pets.id", "idempotency_keys.pet_id")
      .select([...petColumns, "request_digest"])
      .where("account_id", "=", parameter("accountId"))
      .where("key", "=", parameter("key")),
);

const deleteForgotten = sweepStatement("delete-forgotten-idempotency-keys", {
  table: "idempotency_keys",
  since: "created_at",
  lockId: 7_302_030_513,
});

/** All statements of this file. */
export const idempotencyStatements: readonly NamedSql[] = [insertOnce, selectFirst, deleteForgotten];

/**
 * Equal pets have equal digests, in either API and any notation or order of properties. Stored digests must not change:
 * append an optional field with its name, and only if the pet has it, as in `[name, categoryId, status, ["color", color]]`.
 */
export function digestPet({ name, categoryId, status }: AllFields<NewPet, "name" | "categoryId" | "status">): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([name, `${categoryId}`, status]))
    .digest();
}

function throwReason(problem: unknown): never {
  if (isRowLockTimeout(problem)) {
    throw new Problem("IDEMPOTENCY_IN_PROGRESS", undefined, { cause: problem, retryAfterSeconds: 1 });
  }
  // The foreign key is violated: the account and its API keys were deleted after the API key was checked.
  if (sqlState(problem) === "23503") throw new Problem("API_KEY_INVALID", undefined, { cause: problem });
  throw problem;
}
