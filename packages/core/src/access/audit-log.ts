/** One statement changes an account or a key and adds the entry to the log, so both are in one transaction. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { runUnprepared } from "../database/run-unprepared.js";
import { type Query, queryBuilder, type Row } from "../database/statement.js";

/** The change of one account or one key. */
export interface AuditEntry {
  readonly at: Date;
  /** The person or the service that made the change. Nothing verifies this name. */
  readonly actor: string;
  /** The command, such as `key revoke`. */
  readonly action: string;
  readonly accountId: bigint;
  /** Absent if the account was deleted. */
  readonly accountName?: string;
  /** Absent if the change is to the account itself. */
  readonly keyId?: bigint;
  /** Fields of the account or the key after the change, or before its deletion. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Newest first. By default of all accounts. */
export async function listAuditEntries(
  database: Pick<Database, "run">,
  { accountId, limit }: { readonly accountId?: bigint | undefined; readonly limit: number },
): Promise<AuditEntry[]> {
  const newest = queryBuilder
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
    .orderBy("audit_log.id", "desc")
    .limit(limit);
  const entries = accountId === undefined ? newest : newest.where("account_id", "=", accountId);
  return await runUnprepared<AuditEntry>(database, "read", entries);
}

interface AuditedChange<Changed> {
  readonly subject: "account" | "key";
  readonly action: string;
  readonly actor: string;
  /** Returns the rows after the change, or the deleted rows. */
  readonly change: Query<Row<Changed>>;
  /** Common table expressions that `change` reads. A comma follows each of them. */
  readonly before?: RawBuilder<unknown> | undefined;
}

/** Makes a change, and adds an entry to the audit log for each row that it returns. */
export async function runAudited<Changed>(
  database: Pick<Database, "run">,
  audited: AuditedChange<Changed>,
): Promise<Changed[]> {
  const { subject, action, actor, change, before = sql`` } = audited;
  const ids = subject === "account" ? sql`id, null` : sql`"accountId", id`;
  return await runUnprepared<Changed>(
    database,
    "write",
    sql<Row<Changed>>`
      with ${before} changed as (${change}),
      logged as (
        insert into audit_log (actor, action, account_id, key_id, details)
        select ${actor}, ${action}, ${ids},
          jsonb_strip_nulls(to_jsonb(changed)) - '{id,accountId,createdAt,lastUsedOn}'::text[]
        from changed
      )
      select * from changed`,
  );
}
