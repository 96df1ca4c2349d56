import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { query, statement } from "../database/statement.js";
import { type Account, toCustomLimits } from "./account-repository.js";

/** What is known of a key; the key itself is known to its holder alone. */
export interface KeyRecord {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** The key that the first rotation began with, or the key itself: what is held against one is held against all of them. */
  readonly lineage: bigint;
  /** The last time a ban of the lineage was lifted, on the clock of the database. */
  readonly banLiftedAt?: Date;
}

/** A key with what its account may do: all that authentication needs, in one row. */
export interface KeyWithAccount extends KeyRecord {
  readonly plan: Account["plan"];
  readonly customLimits?: Account["customLimits"];
}

interface NewKey {
  readonly accountId: bigint;
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly expiresAt?: Date;
}

interface Rotation {
  readonly id: bigint;
  /** Of the key that takes its place, SHA-256 in hex. */
  readonly digest: string;
  readonly expiresAt?: Date;
  readonly at: Date;
  /** When the old key ends at the latest. */
  readonly endsAt: Date;
}

interface Rotated {
  readonly old: KeyRecord;
  readonly replacement: KeyRecord;
}

/** Everything throws SERVICE_UNAVAILABLE where the database is away or too busy. */
export interface KeyRepository {
  add(key: NewKey): Promise<KeyRecord>;
  /** All keys of the account, those that have ended included, ascending by id. */
  list(accountId: bigint): Promise<KeyRecord[]>;
  /** The key after its revocation, which happens once; `undefined` when there is no such key. */
  revoke(id: bigint, at: Date): Promise<KeyRecord | undefined>;
  /**
   * Puts a new key of the same lineage beside one that works and lets that one end at `endsAt`, or earlier by its own
   * expiry; `undefined` when there is no such key, or it has ended already.
   */
  rotate(rotation: Rotation): Promise<Rotated | undefined>;
  /** The key with its new end, which may lie before or after the old one; `undefined` when there is none, or it was revoked. */
  expire(id: bigint, expiresAt: Date): Promise<KeyRecord | undefined>;
  /** Lets every instance end the ban of the key and forget its strikes. `undefined` when there is no such key. */
  liftBan(id: bigint): Promise<KeyRecord | undefined>;
  find(id: bigint): Promise<KeyRecord | undefined>;
  /** The key whose text has this SHA-256, in hexadecimal digits, and the account it belongs to. */
  findByDigest(digest: string): Promise<KeyWithAccount | undefined>;
}

export function createKeyRepository(database: Database): KeyRepository {
  return {
    async add({ accountId, digest, expiresAt = null }) {
      const [row] = await database.run(insertKey, { accountId, digest: Buffer.from(digest, "hex"), expiresAt });
      if (row === undefined) throw new Error("the inserted key was not returned");
      return toKeyRecord(row);
    },
    async list(accountId) {
      return (await database.run(selectKeysOfAccount, { accountId })).map(toKeyRecord);
    },
    async revoke(id, at) {
      const [row] = await database.run(revokeKey, { id, at });
      return row && toKeyRecord(row);
    },
    async rotate({ id, digest, expiresAt = null, at, endsAt }) {
      const values = { id, digest: Buffer.from(digest, "hex"), expiresAt, at, endsAt };
      const rows = (await database.run(rotateKey, values)).map(toKeyRecord);
      const old = rows.find((row) => row.id === id);
      const replacement = rows.find((row) => row.id !== id);
      return old && replacement && { old, replacement };
    },
    async expire(id, expiresAt) {
      const [row] = await database.run(expireKey, { id, expiresAt });
      return row && toKeyRecord(row);
    },
    async liftBan(id) {
      const rows = await database.run(liftBanOfKey, { id });
      const row = rows.find((other) => other.id === id);
      return row && toKeyRecord(row);
    },
    async find(id) {
      const [row] = await database.run(selectKey, { id });
      return row && toKeyRecord(row);
    },
    async findByDigest(digest) {
      const [row] = await database.run(selectKeyByDigest, { digest: Buffer.from(digest, "hex") });
      if (row === undefined) return undefined;
      const customLimits = toCustomLimits(row.minute_limit, row.day_limit);
      return { ...toKeyRecord(row), plan: row.plan, ...(customLimits && { customLimits }) };
    },
  };
}

interface KeyRow {
  id: bigint;
  account_id: bigint;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  lineage: bigint | null;
  ban_lifted_at: Date | null;
}

interface KeyWithAccountRow extends KeyRow {
  plan: Account["plan"];
  minute_limit: number | null;
  day_limit: number | null;
}

const keyColumns = [
  "api_keys.id",
  "api_keys.account_id",
  "api_keys.created_at",
  "api_keys.expires_at",
  "api_keys.revoked_at",
  "api_keys.lineage",
  "api_keys.ban_lifted_at",
] as const;

const insertKey = statement<{ accountId: bigint; digest: Buffer; expiresAt: Date | null }, KeyRow>(
  "insert-key",
  (db, slot) =>
    db
      .insertInto("api_keys")
      .values({ account_id: slot("accountId"), digest: slot("digest"), expires_at: slot("expiresAt") })
      .returning(keyColumns),
);

const selectKeysOfAccount = statement<{ accountId: bigint }, KeyRow>("select-keys-of-account", (db, slot) =>
  db.selectFrom("api_keys").select(keyColumns).where("account_id", "=", slot("accountId")).orderBy("id"),
);

const revokeKey = statement<{ id: bigint; at: Date }, KeyRow>("revoke-key", (db, slot) =>
  db
    .updateTable("api_keys")
    .set(({ fn }) => ({ revoked_at: fn.coalesce("revoked_at", slot("at")) }))
    .where("id", "=", slot("id"))
    .returning(keyColumns),
);

const rotateKey = statement<{ id: bigint; digest: Buffer; expiresAt: Date | null; at: Date; endsAt: Date }, KeyRow>(
  "rotate-key",
  (db, slot) =>
    db
      .with("old", (cte) =>
        cte
          .updateTable("api_keys")
          .set(({ fn }) => ({ expires_at: fn("least", ["expires_at", sql<Date>`${slot("endsAt")}::timestamptz`]) }))
          .where("id", "=", slot("id"))
          .where("revoked_at", "is", null)
          .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", slot("at"))]))
          .returning(keyColumns),
      )
      .with("replacement", (cte) =>
        cte
          .insertInto("api_keys")
          .columns(["account_id", "digest", "expires_at", "lineage", "ban_lifted_at"])
          .expression((eb) =>
            eb
              .selectFrom("old")
              .select(({ fn }) => [
                "account_id",
                sql<Buffer>`${slot("digest")}::bytea`.as("digest"),
                sql<Date | null>`${slot("expiresAt")}::timestamptz`.as("expires_at"),
                fn.coalesce("lineage", "id").as("lineage"),
                "ban_lifted_at",
              ]),
          )
          .returning(keyColumns),
      )
      .selectFrom("old")
      .selectAll()
      .unionAll((eb) => eb.selectFrom("replacement").selectAll()),
);

const expireKey = statement<{ id: bigint; expiresAt: Date }, KeyRow>("expire-key", (db, slot) =>
  db
    .updateTable("api_keys")
    .set({ expires_at: slot("expiresAt") })
    .where("id", "=", slot("id"))
    .where("revoked_at", "is", null)
    .returning(keyColumns),
);

const liftBanOfKey = statement<{ id: bigint }, KeyRow>("lift-ban-of-key", (db, slot) =>
  db
    .updateTable("api_keys")
    .set({ ban_lifted_at: sql<Date>`now()` })
    .where(({ eb, fn, selectFrom }) =>
      eb(
        fn.coalesce("lineage", "id"),
        "=",
        selectFrom("api_keys as one")
          .select((one) => one.fn.coalesce("one.lineage", "one.id").as("lineage"))
          .where("one.id", "=", slot("id")),
      ),
    )
    .returning(keyColumns),
);

const selectKey = statement<{ id: bigint }, KeyRow>("select-key", (db, slot) =>
  db.selectFrom("api_keys").select(keyColumns).where("id", "=", slot("id")),
);

const selectKeyByDigest = query<{ digest: Buffer }, KeyWithAccountRow>("select-key-by-digest", (db, slot) =>
  db
    .selectFrom("api_keys")
    .innerJoin("accounts", "accounts.id", "api_keys.account_id")
    .select([...keyColumns, "accounts.plan", "accounts.minute_limit", "accounts.day_limit"])
    .where("api_keys.digest", "=", slot("digest")),
);

function toKeyRecord(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: row.created_at,
    ...(row.expires_at && { expiresAt: row.expires_at }),
    ...(row.revoked_at && { revokedAt: row.revoked_at }),
    lineage: row.lineage ?? row.id,
    ...(row.ban_lifted_at && { banLiftedAt: row.ban_lifted_at }),
  };
}
