import type { Database } from "../database/database.js";
import type { Statement } from "../database/statement.js";
import { type Account, customLimitsOf } from "./account-repository.js";
import {
  expireKey,
  insertKey,
  type KeyRow,
  liftBanOfKey,
  revokeKey,
  rotateKey,
  selectKey,
  selectKeyByDigest,
  selectKeysOfAccount,
} from "./key-statements.js";

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
  /** Milliseconds since `banLiftedAt`. */
  readonly banLiftedAgoMs?: number;
}

interface NewKey {
  readonly accountId: bigint;
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  readonly expiresAt?: Date;
}

interface Rotation extends Omit<NewKey, "accountId"> {
  /** The key that is replaced. */
  readonly id: bigint;
  /** How long the replaced key works at most. */
  readonly graceMs: number;
}

/** A time, or a number of milliseconds from now by the clock of PostgreSQL. */
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
  /** The key with this SHA-256, in hexadecimal digits, and the plan of its account. */
  findByDigest(digest: string): Promise<KeyWithAccount | undefined>;
}

export function createKeyRepository(database: Database): KeyRepository {
  async function run<Values>(statement: Statement<Values, KeyRow>, values: Values): Promise<KeyRecord[]> {
    return (await database.run(statement, values)).map(toKeyRecord);
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
      return (
        row && {
          ...toKeyRecord(row),
          plan: row.plan,
          ...customLimitsOf(row),
          ...(row.expires_in_ms !== null && { expiresInMs: row.expires_in_ms }),
          ...(row.ban_lifted_ago_ms !== null && { banLiftedAgoMs: row.ban_lifted_ago_ms }),
        }
      );
    },
  };
}

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
