// The SQL of the API keys.
import { type RawBuilder, sql } from "kysely";
import { type Statement, statement } from "../database/statement.js";
import type { Row } from "../database/tables.js";
import type { KeyScope } from "../scoped-catalogues.js";
import { customLimitsColumn } from "./account-repository.js";
import { auditedStatement } from "./audit-log.js";
import type { FoundKey, KeyRecord, KeyWithAccount } from "./key-repository.js";

type Audited<Values> = Statement<Values & { readonly actor: string }, Row<KeyRecord>>;

const lineage = sql<bigint>`coalesce(lineage, api_keys.id)`;
/** PostgreSQL's clock decides which day it is. */
const today = sql<string>`(now() at time zone 'UTC')::date`;

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

interface NewKeyRow {
  readonly accountId: bigint;
  readonly digest: Buffer;
  readonly prefix: string | null;
  readonly name: string | null;
  readonly scope: KeyScope;
  readonly expiresAt: Date | null;
}

export const insertKey: Audited<NewKeyRow> = auditedStatement("key", "key issue", (db, parameter) => {
  const inserted = db
    .insertInto("api_keys")
    .values({
      account_id: parameter("accountId"),
      digest: parameter("digest"),
      prefix: parameter("prefix"),
      name: parameter("name"),
      scope: parameter("scope"),
      expires_at: parameter("expiresAt"),
    })
    .returning(keyColumns);
  return sql`changed as (${inserted})`;
});

export const selectKeysOfAccount: Statement<{ accountId: bigint }, Row<KeyRecord>> = statement(
  "read",
  "select-keys-of-account",
  (db, parameter) =>
    db.selectFrom("api_keys").select(keyColumns).where("account_id", "=", parameter("accountId")).orderBy("id"),
);

export const selectKey: Statement<{ id: bigint }, Row<KeyRecord>> = statement("read", "select-key", (db, parameter) =>
  db.selectFrom("api_keys").select(keyColumns).where("id", "=", parameter("id")),
);

export const searchKeys: Statement<{ digest: Buffer | null; prefix: string | null }, Row<FoundKey>> = statement(
  "read",
  "search-keys",
  (db, parameter) =>
    db
      .selectFrom("api_keys")
      .innerJoin("accounts", "accounts.id", "account_id")
      .select([...keyColumns, "accounts.name as accountName"])
      .where((eb) => eb.or([eb("digest", "=", parameter("digest")), eb("prefix", "=", parameter("prefix"))]))
      .orderBy("api_keys.id"),
);

export const revokeKey: Audited<{ id: bigint }> = auditedStatement("key", "key revoke", (db, parameter) => {
  const updated = db
    .updateTable("api_keys")
    .set({ revoked_at: sql`now()` })
    .where("id", "=", parameter("id"))
    .where("revoked_at", "is", null)
    .returning(keyColumns);
  return sql`changed as (${updated})`;
});

export const revokeKeysOfAccount: Audited<{ accountId: bigint }> = auditedStatement(
  "key",
  "key revoke-all",
  (db, parameter) => {
    const updated = db
      .updateTable("api_keys")
      .set({ revoked_at: sql`now()` })
      .where("account_id", "=", parameter("accountId"))
      .where("revoked_at", "is", null)
      .returning(keyColumns);
    return sql`changed as (${updated})`;
  },
);

export const changeKey: Audited<{ id: bigint; name: string | null; scope: KeyScope | null }> = auditedStatement(
  "key",
  "key change",
  (db, parameter) => {
    const updated = db
      .updateTable("api_keys")
      .set({
        name: sql`coalesce(${parameter("name")}, name)`,
        scope: sql`coalesce(${parameter("scope")}, scope)`,
      })
      .where("id", "=", parameter("id"))
      .returning(keyColumns);
    return sql`changed as (${updated})`;
  },
);

export const expireKey: Audited<{ id: bigint; at: Date | null; inMs: number }> = auditedStatement(
  "key",
  "key expire",
  (db, parameter) => {
    const updated = db
      .updateTable("api_keys")
      .set({ expires_at: sql`coalesce(${parameter("at")}::timestamptz, ${later(parameter("inMs"))})` })
      .where("id", "=", parameter("id"))
      .where("revoked_at", "is", null)
      .returning(keyColumns);
    return sql`changed as (${updated})`;
  },
);

interface RotationRow extends Pick<NewKeyRow, "digest" | "prefix" | "expiresAt"> {
  readonly id: bigint;
  readonly graceMs: number;
}

export const rotateKey: Audited<RotationRow> = auditedStatement("key", "key rotate", (db, parameter) => {
  const old = db
    .updateTable("api_keys")
    .set({ expires_at: sql`least(expires_at, ${later(parameter("graceMs"))})` })
    .where("id", "=", parameter("id"))
    .where("revoked_at", "is", null)
    .where(sql<boolean>`coalesce(expires_at > now(), true)`)
    .returning(keyColumns);
  const replacement = db
    .insertInto("api_keys")
    .columns(["account_id", "digest", "prefix", "expires_at", "lineage", "ban_lifted_at", "name", "scope"])
    .expression(
      sql`select "accountId", ${parameter("digest")}::bytea, ${parameter("prefix")}::text,
        ${parameter("expiresAt")}::timestamptz, lineage, "banLiftedAt", name, scope from old`,
    )
    .returning(keyColumns);
  return sql`old as (${old}), replacement as (${replacement}),
    changed as (select * from old union all select * from replacement)`;
});

export const liftBanOfKey: Audited<{ id: bigint }> = auditedStatement("key", "ban lift", (db, parameter) => {
  const updated = db
    .updateTable("api_keys")
    .set({ ban_lifted_at: sql`now()` })
    .where(lineage, "=", (eb) => eb.selectFrom("api_keys").select(lineage.as("one")).where("id", "=", parameter("id")))
    .returning(keyColumns);
  return sql`changed as (${updated})`;
});

export const selectKeyByDigest: Statement<{ digest: Buffer }, Row<KeyWithAccount>> = statement(
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
        "suspended_at as accountSuspendedAt",
        sql<boolean>`last_used_on is not distinct from ${today}`.as("isUsedToday"),
      ])
      .where("digest", "=", parameter("digest")),
);

/** Skips rows that another statement is changing: it never waits, and two instances cannot block each other. */
export const writeLastUse: Statement<{ ids: readonly bigint[] }, unknown> = statement(
  "write",
  "write-last-use",
  (_db, parameter) => sql`
    with due as (
      select id from api_keys
      where id = any(${parameter("ids")}::bigint[]) and (last_used_on < ${today} or last_used_on is null)
      for no key update skip locked
    )
    update api_keys set last_used_on = ${today} from due where api_keys.id = due.id`,
);

function later(milliseconds: RawBuilder<number>): RawBuilder<Date> {
  return sql<Date>`now() + ${milliseconds}::float8 * interval '1 millisecond'`;
}

/** Subtracts epochs, because a time may be `infinity`, which PostgreSQL before 17 cannot subtract. */
function millisecondsBetween(from: string, to: string): RawBuilder<number | null> {
  const milliseconds = `(extract(epoch from ${to}) - extract(epoch from ${from})) * 1000`;
  return sql<number | null>`(${sql.raw(milliseconds)})::float8`;
}
