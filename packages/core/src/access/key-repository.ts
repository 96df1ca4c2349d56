import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import { type Account, customLimitsColumn, type Row, withoutNulls } from "./account-repository.js";

/** The stored facts about a key. The key itself is not stored. */
export interface KeyRecord {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** The first key of a chain of rotations. All keys of the chain share strikes and bans. */
  readonly lineage: bigint;
  /** When a ban of the lineage was last lifted, by the clock of PostgreSQL. */
  readonly banLiftedAt?: Date;
}

/**
 * A key and the plan of its account: everything that authentication needs, in one row. Its times are also given relative
 * to the moment of the read, by PostgreSQL's clock, because the clock of an instance may be wrong.
 */
export interface KeyWithAccount extends KeyRecord {
  readonly plan: Account["plan"];
  readonly customLimits?: Account["customLimits"];
  /** Milliseconds until `expiresAt`; zero or less when that has passed. */
  readonly expiresInMs?: number;
  readonly banLiftedAgoMs?: number;
}

interface NewKey {
  readonly accountId: bigint;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly expiresAt?: Date;
}

interface Rotation extends Omit<NewKey, "accountId"> {
  readonly id: bigint;
  /** How long the replaced key works at most. */
  readonly graceMs: number;
}

type KeyEnd = { readonly at: Date } | { readonly inMs: number };

/**
 * Every call throws SERVICE_UNAVAILABLE if PostgreSQL is unreachable or too busy. "Now" is the clock of PostgreSQL, which
 * all instances and operators share.
 */
export interface KeyRepository {
  add(key: NewKey): Promise<KeyRecord>;
  /** All keys of the account, ended ones included, ascending by id. */
  list(accountId: bigint): Promise<KeyRecord[]>;
  /** The revoked key; `undefined` if no key has this id. A second call keeps the time of the first. */
  revoke(id: bigint): Promise<KeyRecord | undefined>;
  /**
   * Adds a new key of the same lineage as a working key. The old key ends after the grace, or at its own expiry if that
   * is earlier. `undefined` if no key has this id, or it has already ended.
   */
  rotate(rotation: Rotation): Promise<{ readonly old: KeyRecord; readonly replacement: KeyRecord } | undefined>;
  /** The key with its new end, earlier or later than the old one; `undefined` if no such key exists, or it was revoked. */
  expire(id: bigint, end: KeyEnd): Promise<KeyRecord | undefined>;
  /** Lets every instance end the ban of the key and forget its strikes. `undefined` if no key has this id. */
  liftBan(id: bigint): Promise<KeyRecord | undefined>;
  find(id: bigint): Promise<KeyRecord | undefined>;
  findByDigest(digest: string): Promise<KeyWithAccount | undefined>;
}

export function createKeyRepository(database: Database): KeyRepository {
  async function run<Values>(query: Statement<Values, Row<KeyRecord>>, values: Values): Promise<KeyRecord[]> {
    return (await database.run(query, values)).map(withoutNulls);
  }

  return {
    async add({ accountId, digest, expiresAt = null }) {
      const [key] = await run(insertKey, { accountId, digest: Buffer.from(digest, "hex"), expiresAt });
      if (key === undefined) throw new Error("the inserted key was not returned");
      return key;
    },
    list: (accountId) => run(selectKeysOfAccount, { accountId }),
    revoke: async (id) => (await run(revokeKey, { id }))[0],
    async rotate({ id, digest, expiresAt = null, graceMs }) {
      const keys = await run(rotateKey, { id, digest: Buffer.from(digest, "hex"), expiresAt, graceMs });
      const old = keys.find((key) => key.id === id);
      const replacement = keys.find((key) => key.id !== id);
      return old && replacement && { old, replacement };
    },
    async expire(id, end) {
      const values = "at" in end ? { at: end.at, inMs: 0 } : { at: null, inMs: end.inMs };
      return (await run(expireKey, { id, ...values }))[0];
    },
    liftBan: async (id) => (await run(liftBanOfKey, { id })).find((key) => key.id === id),
    find: async (id) => (await run(selectKey, { id }))[0],
    async findByDigest(digest) {
      const [row] = await database.run(selectKeyByDigest, { digest: Buffer.from(digest, "hex") });
      return row && withoutNulls<KeyWithAccount>(row);
    },
  };
}

const lineage = sql<bigint>`coalesce(lineage, api_keys.id)`;

const keyColumns = [
  "api_keys.id",
  "account_id as accountId",
  "api_keys.created_at as createdAt",
  "expires_at as expiresAt",
  "revoked_at as revokedAt",
  lineage.as("lineage"),
  "ban_lifted_at as banLiftedAt",
] as const;

const insertKey = statement<{ accountId: bigint; digest: Buffer; expiresAt: Date | null }, Row<KeyRecord>>(
  "write",
  "insert-key",
  (db, parameter) =>
    db
      .insertInto("api_keys")
      .values({ account_id: parameter("accountId"), digest: parameter("digest"), expires_at: parameter("expiresAt") })
      .returning(keyColumns),
);

const selectKeysOfAccount = statement<{ accountId: bigint }, Row<KeyRecord>>(
  "read",
  "select-keys-of-account",
  (db, parameter) =>
    db.selectFrom("api_keys").select(keyColumns).where("account_id", "=", parameter("accountId")).orderBy("id"),
);

const selectKey = statement<{ id: bigint }, Row<KeyRecord>>("read", "select-key", (db, parameter) =>
  db.selectFrom("api_keys").select(keyColumns).where("id", "=", parameter("id")),
);

const revokeKey = statement<{ id: bigint }, Row<KeyRecord>>("write", "revoke-key", (db, parameter) =>
  db
    .updateTable("api_keys")
    .set({ revoked_at: sql`coalesce(revoked_at, now())` })
    .where("id", "=", parameter("id"))
    .returning(keyColumns),
);

const expireKey = statement<{ id: bigint; at: Date | null; inMs: number }, Row<KeyRecord>>(
  "write",
  "expire-key",
  (db, parameter) =>
    db
      .updateTable("api_keys")
      .set({ expires_at: sql`coalesce(${parameter("at")}::timestamptz, ${later(parameter("inMs"))})` })
      .where("id", "=", parameter("id"))
      .where("revoked_at", "is", null)
      .returning(keyColumns),
);

const rotateKey = statement<{ id: bigint; digest: Buffer; expiresAt: Date | null; graceMs: number }, Row<KeyRecord>>(
  "write",
  "rotate-key",
  (db, parameter) =>
    db
      .with("old", (cte) =>
        cte
          .updateTable("api_keys")
          .set({ expires_at: sql`least(expires_at, ${later(parameter("graceMs"))})` })
          .where("id", "=", parameter("id"))
          .where("revoked_at", "is", null)
          .where(sql<boolean>`coalesce(expires_at > now(), true)`)
          .returning(keyColumns),
      )
      .with("replacement", (cte) =>
        cte
          .insertInto("api_keys")
          .columns(["account_id", "digest", "expires_at", "lineage", "ban_lifted_at"])
          .expression(
            sql`select "accountId", ${parameter("digest")}::bytea, ${parameter("expiresAt")}::timestamptz, lineage,
              "banLiftedAt" from old`,
          )
          .returning(keyColumns),
      )
      .selectFrom("old")
      .selectAll()
      .unionAll((eb) => eb.selectFrom("replacement").selectAll()),
);

const liftBanOfKey = statement<{ id: bigint }, Row<KeyRecord>>("write", "lift-ban-of-key", (db, parameter) =>
  db
    .updateTable("api_keys")
    .set({ ban_lifted_at: sql`now()` })
    .where(lineage, "=", (eb) => eb.selectFrom("api_keys").select(lineage.as("one")).where("id", "=", parameter("id")))
    .returning(keyColumns),
);

const selectKeyByDigest = statement<{ digest: Buffer }, Row<KeyWithAccount>>(
  "pipelined read",
  "select-key-by-digest",
  (db, parameter) =>
    db
      .selectFrom("api_keys")
      .innerJoin("accounts", "accounts.id", "account_id")
      .select([
        ...keyColumns,
        "plan",
        customLimitsColumn,
        millisecondsBetween("now()", "expires_at").as("expiresInMs"),
        millisecondsBetween("ban_lifted_at", "now()").as("banLiftedAgoMs"),
      ])
      .where("digest", "=", parameter("digest")),
);

function later(milliseconds: RawBuilder<number>): RawBuilder<Date> {
  return sql<Date>`now() + ${milliseconds}::float8 * interval '1 millisecond'`;
}

/** Subtracts epochs, because a time may be `infinity`, which PostgreSQL before 17 cannot subtract. */
function millisecondsBetween(from: string, to: string): RawBuilder<number | null> {
  const milliseconds = `(extract(epoch from ${to}) - extract(epoch from ${from})) * 1000`;
  return sql<number | null>`(${sql.raw(milliseconds)})::float8`;
}
