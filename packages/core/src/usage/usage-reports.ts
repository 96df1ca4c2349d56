/** The usage history as an operator reads it. Periods end with the present hour or day, in UTC, by the clock of PostgreSQL. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "../database/database.js";
import { runUnprepared } from "../database/run-unprepared.js";
import type { Row } from "../database/statement.js";
import type { CountedAs } from "./usage-counters.js";

export interface UsagePeriod {
  readonly unit: "hour" | "day";
  /** How many hours or days, the present one included. At least 1. */
  readonly count: number;
}

/** One hour or day of one key and API. */
interface UsageOfKey {
  readonly start: Date;
  readonly keyId: bigint;
  readonly keyName?: string;
  readonly api: CountedAs["api"];
  readonly admitted: bigint;
  readonly refused: bigint;
}

interface UsageOfAccount {
  readonly account: string;
  readonly plan: string;
  readonly admitted: bigint;
  readonly refused: bigint;
}

interface DeprecatedUse {
  readonly operation: string;
  readonly account: string;
  readonly keyId: bigint;
  readonly keyName?: string;
  readonly admitted: bigint;
  readonly refused: bigint;
  /** The start of the last hour with a request. */
  readonly lastHour: Date;
}

/** The hours or days with requests, the oldest first. */
export function listUsage(
  database: Pick<Database, "run">,
  of: { readonly accountId: bigint } | { readonly keyId: bigint },
  period: UsagePeriod,
): Promise<UsageOfKey[]> {
  const keys = "keyId" in of ? sql`api_keys.id = ${of.keyId}` : sql`account_id = ${of.accountId}`;
  return runUnprepared<UsageOfKey>(
    database,
    "read",
    sql<Row<UsageOfKey>>`
      select date_trunc(${period.unit}, hour, 'UTC') as start, key_id as "keyId", name as "keyName", api,
        sum(admitted)::bigint as admitted, sum(refused)::bigint as refused
      from usage_hours join api_keys on api_keys.id = key_id
      where ${keys} and hour >= ${startOf(period)}
      group by 1, 2, 3, 4 order by 1, 2, 4`,
  );
}

/** The accounts with the most admitted units, and then those with the most refusals. */
export function listBusiestAccounts(
  database: Pick<Database, "run">,
  period: UsagePeriod,
  limit: number,
): Promise<UsageOfAccount[]> {
  return runUnprepared<UsageOfAccount>(
    database,
    "read",
    sql<Row<UsageOfAccount>>`
      select accounts.name as account, plan, sum(admitted)::bigint as admitted, sum(refused)::bigint as refused
      from usage_hours join api_keys on api_keys.id = key_id join accounts on accounts.id = account_id
      where hour >= ${startOf(period)}
      group by accounts.id order by 3 desc, 4 desc, 1 limit ${limit}`,
  );
}

/** Each key that has called a deprecated operation, the last caller first. */
export function listDeprecatedUse(database: Pick<Database, "run">, period: UsagePeriod): Promise<DeprecatedUse[]> {
  return runUnprepared<DeprecatedUse>(
    database,
    "read",
    sql<Row<DeprecatedUse>>`
      select operation, accounts.name as account, key_id as "keyId", api_keys.name as "keyName",
        sum(admitted)::bigint as admitted, sum(refused)::bigint as refused, max(hour) as "lastHour"
      from usage_hours join api_keys on api_keys.id = key_id join accounts on accounts.id = account_id
      where operation <> '' and hour >= ${startOf(period)}
      group by 1, 2, 3, 4 order by 7 desc, 5 desc, 3`,
  );
}

/** Counts in hours, because the length of a day depends on the time zone of the session. */
function startOf({ unit, count }: UsagePeriod): RawBuilder<Date> {
  const hoursBefore = (count - 1) * (unit === "day" ? 24 : 1);
  return sql<Date>`date_trunc(${unit}, now(), 'UTC') - ${hoursBefore}::integer * interval '1 hour'`;
}
