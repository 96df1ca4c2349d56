/** The SQL of API keys. "Now" is always the clock of PostgreSQL. */
import { type RawBuilder, type Selectable, sql } from "kysely";
import { type Statement, statement } from "../database/statement.js";
import type { Tables } from "../database/tables.js";

export type KeyRow = Omit<Selectable<Tables["api_keys"]>, "digest">;

interface KeyWithAccountRow
  extends KeyRow,
    Pick<Selectable<Tables["accounts"]>, "plan" | "minute_limit" | "day_limit"> {
  expires_in_ms: number | null;
  ban_lifted_ago_ms: number | null;
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

const now = sql<Date>`now()`;

export const insertKey: Statement<{ accountId: bigint; digest: Buffer; expiresAt: Date | null }, KeyRow> = statement(
  "write",
  "insert-key",
  (db, parameter) =>
    db
      .insertInto("api_keys")
      .values({ account_id: parameter("accountId"), digest: parameter("digest"), expires_at: parameter("expiresAt") })
      .returning(keyColumns),
);

export const selectKeysOfAccount: Statement<{ accountId: bigint }, KeyRow> = statement(
  "read",
  "select-keys-of-account",
  (db, parameter) =>
    db.selectFrom("api_keys").select(keyColumns).where("account_id", "=", parameter("accountId")).orderBy("id"),
);

export const revokeKey: Statement<{ id: bigint }, KeyRow> = statement("write", "revoke-key", (db, parameter) =>
  db
    .updateTable("api_keys")
    .set(({ fn }) => ({ revoked_at: fn.coalesce("revoked_at", now) }))
    .where("id", "=", parameter("id"))
    .returning(keyColumns),
);

export const rotateKey: Statement<{ id: bigint; digest: Buffer; expiresAt: Date | null; graceMs: number }, KeyRow> =
  statement("write", "rotate-key", (db, parameter) =>
    db
      .with("old", (cte) =>
        cte
          .updateTable("api_keys")
          .set(({ fn }) => ({ expires_at: fn("least", ["expires_at", later(parameter("graceMs"))]) }))
          .where("id", "=", parameter("id"))
          .where("revoked_at", "is", null)
          .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
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
                sql<Buffer>`${parameter("digest")}::bytea`.as("digest"),
                sql<Date | null>`${parameter("expiresAt")}::timestamptz`.as("expires_at"),
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

export const expireKey: Statement<{ id: bigint; at: Date | null; inMs: number }, KeyRow> = statement(
  "write",
  "expire-key",
  (db, parameter) =>
    db
      .updateTable("api_keys")
      .set({ expires_at: sql<Date>`coalesce(${parameter("at")}::timestamptz, ${later(parameter("inMs"))})` })
      .where("id", "=", parameter("id"))
      .where("revoked_at", "is", null)
      .returning(keyColumns),
);

export const liftBanOfKey: Statement<{ id: bigint }, KeyRow> = statement("write", "lift-ban-of-key", (db, parameter) =>
  db
    .updateTable("api_keys")
    .set({ ban_lifted_at: now })
    .where(({ eb, fn, selectFrom }) =>
      eb(
        fn.coalesce("lineage", "id"),
        "=",
        selectFrom("api_keys as one")
          .select((one) => one.fn.coalesce("one.lineage", "one.id").as("lineage"))
          .where("one.id", "=", parameter("id")),
      ),
    )
    .returning(keyColumns),
);

export const selectKey: Statement<{ id: bigint }, KeyRow> = statement("read", "select-key", (db, parameter) =>
  db.selectFrom("api_keys").select(keyColumns).where("id", "=", parameter("id")),
);

export const selectKeyByDigest: Statement<{ digest: Buffer }, KeyWithAccountRow> = statement(
  "pipelined read",
  "select-key-by-digest",
  (db, parameter) =>
    db
      .selectFrom("api_keys")
      .innerJoin("accounts", "accounts.id", "api_keys.account_id")
      .select([
        ...keyColumns,
        "accounts.plan",
        "accounts.minute_limit",
        "accounts.day_limit",
        millisecondsBetween("now()", "api_keys.expires_at").as("expires_in_ms"),
        millisecondsBetween("api_keys.ban_lifted_at", "now()").as("ban_lifted_ago_ms"),
      ])
      .where("api_keys.digest", "=", parameter("digest")),
);

function later(milliseconds: RawBuilder<number>): RawBuilder<Date> {
  return sql<Date>`now() + ${milliseconds}::float8 * interval '1 millisecond'`;
}

/** Subtracts epochs, because a time may be `infinity`, which PostgreSQL before 17 cannot subtract. */
function millisecondsBetween(from: string, to: string): RawBuilder<number | null> {
  return sql<
    number | null
  >`((extract(epoch from ${sql.raw(to)}) - extract(epoch from ${sql.raw(from)})) * 1000)::float8`;
}
