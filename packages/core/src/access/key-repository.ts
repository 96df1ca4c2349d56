import type { Database } from "../database/database.js";
import { type Account, toCustomLimits } from "./account-repository.js";
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

/**
 * A key with what its account may do: all that authentication needs, in one row. Its times are also given relative to
 * the moment of the read, by PostgreSQL's clock: the clock of an instance may be wrong.
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
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly expiresAt?: Date;
}

interface Rotation {
  readonly id: bigint;
  /** Of the key that takes its place, SHA-256 in hex. */
  readonly digest: string;
  readonly expiresAt?: Date;
  /** How long the old key still works at most. */
  readonly graceMs: number;
}

/** A time, or a number of milliseconds from now by the clock of PostgreSQL. */
type KeyEnd = { readonly at: Date } | { readonly inMs: number };

interface Rotated {
  readonly old: KeyRecord;
  readonly replacement: KeyRecord;
}

/**
 * Everything throws SERVICE_UNAVAILABLE where PostgreSQL is unreachable or too busy. "Now" is the clock of PostgreSQL, which
 * all instances and operators share.
 */
export interface KeyRepository {
  add(key: NewKey): Promise<KeyRecord>;
  /** All keys of the account, those that have ended included, ascending by id. */
  list(accountId: bigint): Promise<KeyRecord[]>;
  /** The key after its revocation, which happens once; `undefined` when there is no such key. */
  revoke(id: bigint): Promise<KeyRecord | undefined>;
  /**
   * Adds a new key of the same lineage as a working key. The old key ends after the grace, or at its own expiry if that
   * is earlier. `undefined` when there is no such key, or it has ended already.
   */
  rotate(rotation: Rotation): Promise<Rotated | undefined>;
  /** The key with its new end, which may lie before or after the old one; `undefined` when there is none, or it was revoked. */
  expire(id: bigint, end: KeyEnd): Promise<KeyRecord | undefined>;
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
    async revoke(id) {
      const [row] = await database.run(revokeKey, { id });
      return row && toKeyRecord(row);
    },
    async rotate({ id, digest, expiresAt = null, graceMs }) {
      const values = { id, digest: Buffer.from(digest, "hex"), expiresAt, graceMs };
      const rows = (await database.run(rotateKey, values)).map(toKeyRecord);
      const old = rows.find((row) => row.id === id);
      const replacement = rows.find((row) => row.id !== id);
      return old && replacement && { old, replacement };
    },
    async expire(id, end) {
      const values = "at" in end ? { at: end.at, inMs: 0 } : { at: null, inMs: end.inMs };
      const [row] = await database.run(expireKey, { id, ...values });
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
      return {
        ...toKeyRecord(row),
        plan: row.plan,
        ...(customLimits && { customLimits }),
        ...(row.expires_in_ms !== null && { expiresInMs: row.expires_in_ms }),
        ...(row.ban_lifted_ago_ms !== null && { banLiftedAgoMs: row.ban_lifted_ago_ms }),
      };
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
