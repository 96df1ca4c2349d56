import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { runUnprepared } from "../database/run-unprepared.js";
import { type Query, queryBuilder, type Row, statement, withoutNulls } from "../database/statement.js";
import { type Account, customLimitsColumn } from "./account-repository.js";
import { digestApiKey, isWellFormedApiKey, visiblePrefix } from "./api-key.js";
import { runAudited } from "./audit-log.js";
import type { KeyScope } from "./key-scope.js";

/** The stored facts about a key. The key itself is not stored. */
export interface KeyRecord {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** The id of the first key in a chain of rotations. All keys of the chain share strikes and bans. */
  readonly lineage: bigint;
  /** When a ban of the lineage was last lifted. */
  readonly banLiftedAt?: Date;
  readonly name?: string;
  /** `visiblePrefix` of the key. A key of version 1.1 or earlier has none. */
  readonly prefix?: string;
  readonly scope: KeyScope;
  /** The UTC day of the last request that the key authenticated, such as 2027-01-31. */
  readonly lastUsedOn?: string;
}

/** Everything that authentication needs. PostgreSQL computes the durations: the clock of an instance may be wrong. */
export interface KeyWithAccount extends KeyRecord {
  readonly accountName: string;
  readonly plan: Account["plan"];
  readonly customLimits?: Account["customLimits"];
  /** Zero or less if the key has expired. */
  readonly expiresInMs?: number;
  readonly banLiftedAgoMs?: number;
  readonly accountSuspendedAt?: Date;
  readonly isUsedToday: boolean;
}

interface NewKey {
  readonly accountId: bigint;
  /** The key itself. Only its digest and its visible prefix are stored. */
  readonly text: string;
  readonly name?: string;
  /** `both` by default. */
  readonly scope?: KeyScope;
  readonly expiresAt?: Date;
}

interface Rotation {
  readonly id: bigint;
  /** The new key. */
  readonly text: string;
  readonly expiresAt?: Date;
  readonly graceMs: number;
}

/**
 * Every call throws SERVICE_UNAVAILABLE if PostgreSQL is unreachable or too busy. The clock of PostgreSQL gives the current
 * time, because the clocks of instances and operators may differ.
 */
export interface KeyRepository {
  add(key: NewKey): Promise<KeyRecord>;
  /** All keys of the account, ended ones included, ascending by id. */
  list(accountId: bigint): Promise<KeyRecord[]>;
  /** The revoked key; `undefined` if no key has this id. A second call keeps the first `revokedAt`. */
  revoke(id: bigint): Promise<KeyRecord | undefined>;
  /** The keys of the account that this call has revoked. */
  revokeAll(accountId: bigint): Promise<KeyRecord[]>;
  /** `values` has at least one value. Resolves with the changed key; `undefined` if no key has this id. */
  change(id: bigint, values: { readonly name?: string; readonly scope?: KeyScope }): Promise<KeyRecord | undefined>;
  /**
   * Adds a new key of the same lineage, name and scope as a working key. The old key ends after the grace, or at its own
   * expiry if this is earlier. `undefined` if no key has this id, or the key has already ended.
   */
  rotate(rotation: Rotation): Promise<{ readonly old: KeyRecord; readonly replacement: KeyRecord } | undefined>;
  /** Sets an earlier or a later expiry. `undefined` if no key has this id, or the key was revoked. */
  expire(id: bigint, end: { readonly at: Date } | { readonly inMs: number }): Promise<KeyRecord | undefined>;
  /** Makes every instance end the ban of the lineage and forget its strikes. `undefined` if no key has this id. */
  liftBan(id: bigint): Promise<KeyRecord | undefined>;
  find(id: bigint): Promise<KeyRecord | undefined>;
  /** All keys of these lineages, ascending by id, with the age of the last lift by the clock of PostgreSQL. */
  listLineages(
    lineages: readonly bigint[],
  ): Promise<(KeyRecord & { readonly accountName: string; readonly banLiftedAgoMs?: number })[]>;
  /** `text` is a whole key or starts with a visible prefix. Several keys may share a prefix. */
  search(text: string): Promise<(KeyRecord & { readonly accountName: string })[]>;
  findByDigest(digest: string): Promise<KeyWithAccount | undefined>;
}

export function createKeyRepository(database: Pick<Database, "run">, actor: string): KeyRepository {
  function run(action: string, change: Query<Row<KeyRecord>>, before?: RawBuilder<unknown>): Promise<KeyRecord[]> {
    return runAudited<KeyRecord>(database, { subject: "key", action, actor, change, before });
  }

  const keys = queryBuilder.selectFrom("api_keys").select(keyColumns);
  const keysWithAccount = keys
    .innerJoin("accounts", "accounts.id", "account_id")
    .select("accounts.name as accountName")
    .orderBy("api_keys.id");
  const update = queryBuilder.updateTable("api_keys").returning(keyColumns);
  const updateUnrevoked = update.where("revoked_at", "is", null);

  async function find(id: bigint): Promise<KeyRecord | undefined> {
    return (await runUnprepared<KeyRecord>(database, "read", keys.where("id", "=", id)))[0];
  }

  async function revokeAll(accountId: bigint): Promise<KeyRecord[]> {
    const all = updateUnrevoked.set({ revoked_at: sql`now()` }).where("account_id", "=", accountId);
    const revoked = await run("key revoke-all", all);
    // A concurrent rotation may have added a key that this statement did not see. So look for more keys.
    return revoked.length === 0 ? [] : [...revoked, ...(await revokeAll(accountId))];
  }

  return {
    async add({ accountId, text, expiresAt = null, ...values }) {
      const stored = { digest: bytesOf(digestApiKey(text)), prefix: visiblePrefix(text) };
      const inserted = queryBuilder
        .insertInto("api_keys")
        .values({ ...values, ...stored, account_id: accountId, expires_at: expiresAt })
        .returning(keyColumns);
      const [key] = await run("key issue", inserted);
      if (key === undefined) throw new Error("the inserted key was not returned");
      return key;
    },
    list: (accountId) =>
      runUnprepared<KeyRecord>(database, "read", keys.where("account_id", "=", accountId).orderBy("id")),
    async revoke(id) {
      const revoked = updateUnrevoked.set({ revoked_at: sql`now()` }).where("id", "=", id);
      return (await run("key revoke", revoked))[0] ?? find(id);
    },
    revokeAll,
    change: async (id, values) => (await run("key change", update.set(values).where("id", "=", id)))[0],
    async rotate({ id, text, expiresAt = null, graceMs }) {
      const ended = updateUnrevoked
        .set({ expires_at: sql`least(expires_at, ${later(graceMs)})` })
        .where("id", "=", id)
        // `now()` is the start of the transaction. A concurrent rotation may have ended the key after that.
        .where(sql<boolean>`coalesce(expires_at > clock_timestamp(), true)`);
      const added = queryBuilder
        .insertInto("api_keys")
        .columns(["account_id", "digest", "prefix", "expires_at", "lineage", "ban_lifted_at", "name", "scope"])
        .expression(
          sql`select "accountId", ${bytesOf(digestApiKey(text))}::bytea, ${visiblePrefix(text)}::text,
            ${expiresAt}::timestamptz, lineage, "banLiftedAt", name, scope from old`,
        )
        .returning(keyColumns);
      const both = sql<Row<KeyRecord>>`select * from old union all select * from replacement`;
      const rotated = await run("key rotate", both, sql`old as (${ended}), replacement as (${added}),`);
      const old = rotated.find((key) => key.id === id);
      const replacement = rotated.find((key) => key.id !== id);
      return old && replacement && { old, replacement };
    },
    async expire(id, end) {
      const expiresAt = "at" in end ? end.at : later(end.inMs);
      return (await run("key expire", updateUnrevoked.set({ expires_at: expiresAt }).where("id", "=", id)))[0];
    },
    async liftBan(id) {
      const lineageOfKey = queryBuilder.selectFrom("api_keys").select(lineage.as("one")).where("id", "=", id);
      const lifted = update.set({ ban_lifted_at: sql`now()` }).where(lineage, "=", lineageOfKey);
      return (await run("ban lift", lifted)).find((key) => key.id === id);
    },
    find,
    listLineages: (lineages) =>
      runUnprepared<KeyRecord & { accountName: string; banLiftedAgoMs?: number }>(
        database,
        "read",
        keysWithAccount.select(banLiftedAgoMs).where(sql<boolean>`${lineage} = any(${lineages.map(String)}::bigint[])`),
      ),
    search(text) {
      const searched = isWellFormedApiKey(text)
        ? keysWithAccount.where("digest", "=", bytesOf(digestApiKey(text)))
        : keysWithAccount.where("prefix", "=", visiblePrefix(text));
      return runUnprepared<KeyRecord & { accountName: string }>(database, "read", searched);
    },
    async findByDigest(digest) {
      const [row] = await database.run(selectKeyByDigest, { digest: bytesOf(digest) });
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
  "api_keys.name",
  "prefix",
  "scope",
  sql<string | null>`to_char(last_used_on, 'YYYY-MM-DD')`.as("lastUsedOn"),
] as const;

const banLiftedAgoMs = millisecondsBetween("ban_lifted_at", "now()").as("banLiftedAgoMs");

export const today: RawBuilder<string> = sql`(now() at time zone 'UTC')::date`;

const selectKeyByDigest = statement<{ digest: Buffer }, Row<KeyWithAccount>>(
  "read",
  "select-key-by-digest",
  (db, parameter) =>
    db
      .selectFrom("api_keys")
      .innerJoin("accounts", "accounts.id", "account_id")
      .select([
        ...keyColumns,
        "accounts.name as accountName",
        "plan",
        customLimitsColumn,
        millisecondsBetween("now()", "expires_at").as("expiresInMs"),
        banLiftedAgoMs,
        "suspended_at as accountSuspendedAt",
        sql<boolean>`last_used_on is not distinct from ${today}`.as("isUsedToday"),
      ])
      .where("digest", "=", parameter("digest")),
);

function bytesOf(digest: string): Buffer {
  return Buffer.from(digest, "hex");
}

function later(milliseconds: number): RawBuilder<Date> {
  return sql<Date>`now() + ${milliseconds}::float8 * interval '1 millisecond'`;
}

/** Subtracts epochs, because PostgreSQL before 17 cannot subtract the time `infinity`. */
function millisecondsBetween(from: string, to: string): RawBuilder<number | null> {
  const milliseconds = `(extract(epoch from ${to}) - extract(epoch from ${from})) * 1000`;
  return sql<number | null>`(${sql.raw(milliseconds)})::float8`;
}
