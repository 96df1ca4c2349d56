/**
 * A create that can be repeated (draft-ietf-httpapi-idempotency-key-header): the first request with a key stores the
 * pet and the key in one statement, so neither exists without the other; a later one reads what the first made. Two
 * at once meet at the key's row: the second waits there until the first has committed.
 */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import { isRowWait } from "../database/availability.js";
import type { Database } from "../database/database.js";
import { queryAlone, statement } from "../database/statement.js";
import { Problem } from "../problem.js";
import type { NewPet, Pet } from "./pet.js";
import { petColumns } from "./pet-repository.js";

/** How long a key is remembered, by the clock of PostgreSQL: the clocks of the instances may differ. */
const forgottenBefore = sql<Date>`now() - interval '24 hours'`;

interface IdempotentCreate {
  readonly accountId: bigint;
  /** The client's name for this create, unique within its account. */
  readonly key: string;
  readonly pet: NewPet;
}

export interface CreatedPet {
  readonly pet: Pet;
  /** Whether an earlier request with the same key made it. */
  readonly replayed: boolean;
}

/**
 * Creates a pet once per key. Throws IDEMPOTENCY_KEY_REUSED for another body, and IDEMPOTENCY_IN_PROGRESS when the
 * first request has not ended within the time a lock may be waited for.
 */
export type CreateOnce = (create: IdempotentCreate) => Promise<CreatedPet>;

export function createOnceIn(database: Pick<Database, "run">): CreateOnce {
  const underWay = new Map<string, Promise<CreatedPet>>();

  return async (create) => {
    const digest = digestPet(create.pet);
    // The body is part of it: whether another one is a fault depends on which was stored first, which PostgreSQL knows.
    const name = `${create.accountId} ${digest.toString("base64")} ${create.key}`;
    // A storm of retries waits for its first request here, not for connections of the pool.
    const first = underWay.get(name);
    if (first !== undefined) return { pet: (await first).pet, replayed: true };
    const creation = createOrReplay(database, create, digest).finally(() => underWay.delete(name));
    underWay.set(name, creation);
    return creation;
  };
}

/**
 * Forgets every key older than the memory, and returns how many. A statement takes a bounded number of them, so that it
 * is short; what another instance is about to delete is left to it.
 */
export async function forgetIdempotencyKeys(database: Database): Promise<number> {
  let forgotten = 0;
  let batch: number;
  do {
    batch = (await database.run(deleteForgotten, {})).length;
    forgotten += batch;
  } while (batch === forgottenAtOnce);
  return forgotten;
}

const forgottenAtOnce = 1_000;

async function createOrReplay(
  database: Pick<Database, "run">,
  { accountId, key, pet }: IdempotentCreate,
  digest: Buffer,
): Promise<CreatedPet> {
  const values = { accountId, key, digest, ...pet };
  const [created] = await database.run(insertOnce, values).catch(whenStillRunning);
  if (created !== undefined) return { pet: created, replayed: false };
  const [first] = await database.run(selectFirst, { accountId, key });
  if (first === undefined) throw new Problem("IDEMPOTENCY_IN_PROGRESS", undefined, { retryAfterSeconds: 1 });
  const { request_digest: firstDigest, ...petOfFirst } = first;
  if (!firstDigest.equals(digest)) throw new Problem("IDEMPOTENCY_KEY_REUSED");
  return { pet: petOfFirst, replayed: true };
}

interface InsertOnce extends NewPet {
  accountId: bigint;
  key: string;
  digest: Buffer;
}

const insertOnce = statement<InsertOnce, Pet>("insert-pet-once", (db, slot) =>
  db
    .with("claim", (cte) =>
      cte
        .insertInto("idempotency_keys")
        .values({
          account_id: slot("accountId"),
          key: slot("key"),
          request_digest: slot("digest"),
          pet_id: sql<bigint>`nextval(pg_get_serial_sequence('pets', 'id'))`,
          created_at: sql<Date>`now()`,
        })
        .onConflict((conflict) =>
          conflict
            .columns(["account_id", "key"])
            .doUpdateSet((row) => ({
              request_digest: row.ref("excluded.request_digest"),
              pet_id: row.ref("excluded.pet_id"),
              created_at: row.ref("excluded.created_at"),
            }))
            .where("idempotency_keys.created_at", "<", forgottenBefore),
        )
        .returning("pet_id"),
    )
    .insertInto("pets")
    .columns(["id", "name", "category_id", "status"])
    .expression((from) =>
      from
        .selectFrom("claim")
        .select(["pet_id", slot("name").as("name"), slot("categoryId").as("category_id"), slot("status").as("status")]),
    )
    .returning(petColumns),
);

const selectFirst = queryAlone<{ accountId: bigint; key: string }, Pet & { request_digest: Buffer }>(
  "select-pet-by-idempotency-key",
  (db, slot) =>
    db
      .selectFrom("idempotency_keys")
      .innerJoin("pets", "pets.id", "idempotency_keys.pet_id")
      .select([...petColumns, "request_digest"])
      .where("account_id", "=", slot("accountId"))
      .where("key", "=", slot("key")),
);

const deleteForgotten = statement<Record<never, never>, { key: string }>("delete-forgotten-idempotency-keys", (db) =>
  db
    .deleteFrom("idempotency_keys")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("account_id", "key"),
        "in",
        selectFrom("idempotency_keys")
          .select(["account_id", "key"])
          .where("created_at", "<", forgottenBefore)
          .limit(forgottenAtOnce)
          .forUpdate()
          .skipLocked()
          .$asTuple("account_id", "key"),
      ),
    )
    .returning("key"),
);

/** What was asked for, whatever API, notation or order of properties it came in. */
function digestPet({ name, categoryId, status }: NewPet): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([name, `${categoryId}`, status]))
    .digest();
}

function whenStillRunning(problem: unknown): never {
  if (!isRowWait(problem)) throw problem;
  throw new Problem("IDEMPOTENCY_IN_PROGRESS", undefined, { cause: problem, retryAfterSeconds: 1 });
}
