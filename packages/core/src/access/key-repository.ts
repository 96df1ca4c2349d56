import type { Database } from "../database/database.js";
import type { Statement } from "../database/statement.js";
import { type Row, withoutNulls } from "../database/tables.js";
import type { KeyScope } from "../scoped-catalogues.js";
import type { Account } from "./account-repository.js";
import {
  changeKey,
  expireKey,
  insertKey,
  liftBanOfKey,
  revokeKey,
  revokeKeysOfAccount,
  rotateKey,
  searchKeys,
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
  /** For people. */
  readonly name?: string;
  /** The start of the key, by which people recognise it. A key of an earlier version has none. */
  readonly prefix?: string;
  readonly scope: KeyScope;
  /** The UTC day of the last request with the key while it worked, such as 2027-01-31. */
  readonly lastUsedOn?: string;
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
  /** Present while the account is suspended. */
  readonly accountSuspendedAt?: Date;
  /** True if `lastUsedOn` is today. */
  readonly isUsedToday: boolean;
}

/** A key that an operator has found by its text. */
export interface FoundKey extends KeyRecord {
  readonly accountName: string;
}

interface StoredText {
  /** SHA-256 in hexadecimal digits. */
  readonly digest: string;
  /** `visiblePrefix` of the key. */
  readonly prefix?: string;
}

interface NewKey extends StoredText {
  readonly accountId: bigint;
  readonly name?: string;
  /** Both by default. */
  readonly scope?: KeyScope;
  readonly expiresAt?: Date;
}

interface Rotation extends StoredText {
  readonly id: bigint;
  readonly expiresAt?: Date;
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
  /** The keys of the account that this call has revoked. */
  revokeAll(accountId: bigint): Promise<KeyRecord[]>;
  /** The key with the given values in place of the old ones; `undefined` if no key has this id. */
  change(id: bigint, values: { readonly name?: string; readonly scope?: KeyScope }): Promise<KeyRecord | undefined>;
  /**
   * Adds a new key of the same lineage, name and scope as a working key. The old key ends after the grace, or at its own
   * expiry if that is earlier. `undefined` if no key has this id, or it has already ended.
   */
  rotate(rotation: Rotation): Promise<{ readonly old: KeyRecord; readonly replacement: KeyRecord } | undefined>;
  /** The key with its new end, earlier or later than the old one; `undefined` if no such key exists, or it was revoked. */
  expire(id: bigint, end: KeyEnd): Promise<KeyRecord | undefined>;
  /** Lets every instance end the ban of the key and forget its strikes. `undefined` if no key has this id. */
  liftBan(id: bigint): Promise<KeyRecord | undefined>;
  find(id: bigint): Promise<KeyRecord | undefined>;
  /** The key with this digest, or the keys with this visible prefix, which are rarely more than one. */
  search(text: { readonly digest: string } | { readonly prefix: string }): Promise<FoundKey[]>;
  findByDigest(digest: string): Promise<KeyWithAccount | undefined>;
}

/** `actor` makes the changes, for the audit log. */
export function createKeyRepository(database: Database, actor: string): KeyRepository {
  async function run<Values>(query: Statement<Values, Row<KeyRecord>>, values: Values): Promise<KeyRecord[]> {
    return (await database.run(query, values)).map(withoutNulls);
  }

  async function find(id: bigint): Promise<KeyRecord | undefined> {
    return (await run(selectKey, { id }))[0];
  }

  return {
    async add({ accountId, digest, prefix = null, name = null, scope = "both", expiresAt = null }) {
      const values = { accountId, digest: Buffer.from(digest, "hex"), prefix, name, scope, expiresAt, actor };
      const [key] = await run(insertKey, values);
      if (key === undefined) throw new Error("the inserted key was not returned");
      return key;
    },
    list: (accountId) => run(selectKeysOfAccount, { accountId }),
    revoke: async (id) => (await run(revokeKey, { id, actor }))[0] ?? find(id),
    revokeAll: (accountId) => run(revokeKeysOfAccount, { accountId, actor }),
    async change(id, { name = null, scope = null }) {
      return (await run(changeKey, { id, name, scope, actor }))[0];
    },
    async rotate({ id, digest, prefix = null, expiresAt = null, graceMs }) {
      const values = { id, digest: Buffer.from(digest, "hex"), prefix, expiresAt, graceMs, actor };
      const keys = await run(rotateKey, values);
      const old = keys.find((key) => key.id === id);
      const replacement = keys.find((key) => key.id !== id);
      return old && replacement && { old, replacement };
    },
    async expire(id, end) {
      const values = "at" in end ? { at: end.at, inMs: 0 } : { at: null, inMs: end.inMs };
      return (await run(expireKey, { id, ...values, actor }))[0];
    },
    liftBan: async (id) => (await run(liftBanOfKey, { id, actor })).find((key) => key.id === id),
    find,
    async search(text) {
      const digest = "digest" in text ? Buffer.from(text.digest, "hex") : null;
      const prefix = "prefix" in text ? text.prefix : null;
      return (await database.run(searchKeys, { digest, prefix })).map((row) => withoutNulls<FoundKey>(row));
    },
    async findByDigest(digest) {
      const [row] = await database.run(selectKeyByDigest, { digest: Buffer.from(digest, "hex") });
      return row && withoutNulls<KeyWithAccount>(row);
    },
  };
}

/**
 * The start of a key, by which people recognise it: its mode and 8 characters of the secret. The other 24 characters, of 142
 * bits, stay unknown.
 */
export function visiblePrefix(key: string): string {
  return key.slice(0, "pets_live_".length + 8);
}
