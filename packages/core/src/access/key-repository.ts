import type { Database } from "../database/database.js";
import { statement } from "../database/statement.js";
import { type Account, toCustomLimits } from "./account-repository.js";

/** What is known of a key; the key itself is known to its holder alone. */
export interface KeyRecord {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
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

export interface KeyRepository {
  add(key: NewKey): Promise<KeyRecord>;
  list(accountId: bigint): Promise<KeyRecord[]>;
  /** The key after its revocation, which happens once; `undefined` when there is no such key. */
  revoke(id: bigint, at: Date): Promise<KeyRecord | undefined>;
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

const selectKeyByDigest = statement<{ digest: Buffer }, KeyWithAccountRow>("select-key-by-digest", (db, slot) =>
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
  };
}
