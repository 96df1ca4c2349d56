/**
 * The log of administrative changes. A statement that changes an account or a key adds its entries itself, so the change and
 * its entry are in one transaction.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { type PlaceholderFor, type Statement, statement } from "../database/statement.js";
import { type Row, type Tables, withoutNulls } from "../database/tables.js";

/** The change of one account or one key. */
export interface AuditEntry {
  readonly at: Date;
  /** The person who made the change, as the command line reports it. Nothing verifies it. */
  readonly actor: string;
  /** The command, such as `key revoke`. */
  readonly action: string;
  readonly accountId: bigint;
  /** Absent if the account was deleted. */
  readonly accountName?: string;
  /** Absent if the account was changed. */
  readonly keyId?: bigint;
  /** The account or the key after the change, without its ids. */
  readonly details: Readonly<Record<string, unknown>>;
}

interface AuditQuery {
  /** By default all accounts. */
  readonly accountId?: bigint | undefined;
  readonly limit: number;
}

/** The newest entries, the newest first. */
export async function listAuditEntries(database: Database, query: AuditQuery): Promise<AuditEntry[]> {
  const { accountId = null, limit } = query;
  return (await database.run(selectEntries, { accountId, limit })).map(withoutNulls);
}

/**
 * A statement that changes accounts or keys. `changes` is SQL: a list of common table expressions, of which `changed` returns
 * the rows after the change. The statement returns these rows, and adds an entry to the audit log for each of them.
 */
export function auditedStatement<Values, Changed>(
  subject: "account" | "key",
  action: string,
  changes: (db: Kysely<Tables>, parameter: PlaceholderFor<Values>) => RawBuilder<unknown>,
): Statement<Values & { readonly actor: string }, Changed> {
  const ids = subject === "account" ? sql`id, null` : sql`"accountId", id`;
  return statement(
    "write",
    action.replace(" ", "-"),
    (db, parameter) => sql<Changed>`
      with ${changes(db, parameter)},
      logged as (
        insert into audit_log (actor, action, account_id, key_id, details)
        select ${parameter("actor")}, ${sql.lit(action)}, ${ids},
          jsonb_strip_nulls(to_jsonb(changed)) - '{id,accountId,createdAt,lastUsedOn}'::text[]
        from changed
      )
      select * from changed`,
  );
}

const selectEntries = statement<{ accountId: bigint | null; limit: number }, Row<AuditEntry>>(
  "read",
  "select-audit-entries",
  (db, parameter) =>
    db
      .selectFrom("audit_log")
      .leftJoin("accounts", "accounts.id", "account_id")
      .select([
        "at",
        "actor",
        "action",
        "account_id as accountId",
        "accounts.name as accountName",
        "key_id as keyId",
        "details",
      ])
      .where(sql<boolean>`account_id = coalesce(${parameter("accountId")}, account_id)`)
      .orderBy("audit_log.id", "desc")
      .limit(parameter("limit")),
);
