/** The usage history of one account, for its own keys: 48 hours and 90 days, in UTC. */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import type { CountedAs } from "./usage-counters.js";

export interface AccountUsage {
  /** The start of each hour, ascending, in epoch milliseconds. The last one is the present hour. */
  readonly hoursMs: readonly number[];
  /** The same of the days. */
  readonly daysMs: readonly number[];
  /** One for each API of each key with counts in these days. The keys with the highest counts come first. */
  readonly series: readonly UsageSeries[];
}

interface UsageSeries {
  /** Absent for the sum of all keys beyond the first 20. */
  readonly key: UsageKey | undefined;
  readonly api: CountedAs["api"];
  readonly hours: UsageCounts;
  readonly days: UsageCounts;
}

interface UsageKey {
  readonly id: bigint;
  readonly name: string | undefined;
  /** `visiblePrefix` of the key. A key of version 1.1 or earlier has none. */
  readonly prefix: string | undefined;
}

/** One number for each hour or day. */
interface UsageCounts {
  readonly admitted: number[];
  readonly refused: number[];
}

/** Returns the history up to `nowMs`. Rejects with SERVICE_UNAVAILABLE while PostgreSQL is unavailable. */
export type ReadAccountUsage = (accountId: bigint, nowMs: number) => Promise<AccountUsage>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const hoursShown = 48;
const daysShown = 90;
const keysShown = 20;
/** Instances write their counts every 10 s, so an account that reads its history more often learns nothing new. */
const keptForMs = 5_000;
/** A history of 20 keys takes about 100 KB. */
const maxKept = 100;

/** Reads the history of an account at most once in 5 s, however many of its keys ask. */
export function createAccountUsage(database: Pick<Database, "run">, monotonicNow: () => number): ReadAccountUsage {
  const kept = new LRUCache<bigint, Promise<AccountUsage>>({
    max: maxKept,
    ttl: keptForMs,
    ttlResolution: 0,
    perf: { now: monotonicNow },
  });
  return (accountId, nowMs) => {
    const known = kept.get(accountId);
    if (known !== undefined) return known;
    const reading = readAccountUsage(database, accountId, nowMs);
    kept.set(accountId, reading);
    // The caller gets the error. The next one reads again.
    void reading.catch(() => kept.delete(accountId));
    return reading;
  };
}

async function readAccountUsage(
  database: Pick<Database, "run">,
  accountId: bigint,
  nowMs: number,
): Promise<AccountUsage> {
  const hours = startsUntil(nowMs, hourMs, hoursShown);
  const days = startsUntil(nowMs, dayMs, daysShown);
  const rows = await database.run(selectAccountUsage, {
    accountId,
    firstHour: isoTime(hours[0]),
    firstDay: isoTime(days[0]),
    afterLastHour: isoTime(nowMs - (nowMs % hourMs) + hourMs),
  });
  const series = new Map<string, UsageSeries>();
  for (const { keyId, name, prefix, api, isDay, start, admitted, refused } of rows) {
    const id = `${keyId} ${api}`;
    const key = keyId === null ? undefined : { id: keyId, name: name ?? undefined, prefix: prefix ?? undefined };
    const found = series.get(id) ?? { key, api, hours: noCounts(hoursShown), days: noCounts(daysShown) };
    series.set(id, found);
    const counts = isDay ? found.days : found.hours;
    const index = isDay ? (start.getTime() - (days[0] ?? 0)) / dayMs : (start.getTime() - (hours[0] ?? 0)) / hourMs;
    counts.admitted[index] = Number(admitted);
    counts.refused[index] = Number(refused);
  }
  return { hoursMs: hours, daysMs: days, series: [...series.values()] };
}

function noCounts(length: number): UsageCounts {
  return { admitted: Array<number>(length).fill(0), refused: Array<number>(length).fill(0) };
}

/** The starts of the last `count` hours or days, the present one included. */
function startsUntil(nowMs: number, lengthMs: number, count: number): readonly number[] {
  const lastMs = nowMs - (nowMs % lengthMs);
  return Array.from({ length: count }, (_, index) => lastMs - (count - 1 - index) * lengthMs);
}

function isoTime(ms = 0): string {
  return new Date(ms).toISOString();
}

interface UsageRow {
  /** Null for the keys beyond the first 20. */
  readonly keyId: bigint | null;
  readonly name: string | null;
  readonly prefix: string | null;
  readonly api: CountedAs["api"];
  readonly isDay: boolean;
  readonly start: Date;
  readonly admitted: bigint;
  readonly refused: bigint;
}

interface AccountUsageValues {
  readonly accountId: bigint;
  readonly firstHour: string;
  readonly firstDay: string;
  readonly afterLastHour: string;
}

/** A `write`, because it can read thousands of rows, and other reads would wait for it on a shared connection. */
export const selectAccountUsage: Statement<AccountUsageValues, UsageRow> = statement<AccountUsageValues, UsageRow>(
  "write",
  "select-account-usage",
  (_db, parameter) => sql<UsageRow>`
    with counted as (
      select key_id, hour, api, admitted, refused
      from api_keys join usage_hours on key_id = api_keys.id
      where account_id = ${parameter("accountId")}
        and hour >= ${parameter("firstDay")}::timestamptz and hour < ${parameter("afterLastHour")}::timestamptz
    ),
    ranked as (
      select key_id, row_number() over (order by sum(admitted + refused) desc, key_id) as place
      from counted group by key_id
    ),
    shown as (
      select least(place, ${sql.lit(keysShown + 1)}) as place,
        case when place <= ${sql.lit(keysShown)} then key_id end as shown_id, counted.*
      from counted join ranked using (key_id)
    ),
    summed as (
      select place, shown_id, api, true as is_day, date_trunc('day', hour, 'UTC') as start,
        sum(admitted)::bigint as admitted, sum(refused)::bigint as refused
      from shown group by 1, 2, 3, 4, 5
      union all
      select place, shown_id, api, false, hour, sum(admitted)::bigint, sum(refused)::bigint
      from shown where hour >= ${parameter("firstHour")}::timestamptz group by 1, 2, 3, 4, 5
    )
    select shown_id as "keyId", name, prefix, api, is_day as "isDay", start, summed.admitted, summed.refused
    from summed left join api_keys on api_keys.id = shown_id
    order by place, api desc, start`,
);
