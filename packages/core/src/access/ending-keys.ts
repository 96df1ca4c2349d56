import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import type { Log } from "../log.js";
import { today } from "./key-repository.js";

/** A key that was used within 7 days and ends within 14. Its holder may not know that it ends. */
interface EndingKey {
  readonly id: bigint;
  readonly accountName: string;
  readonly expiresAt: Date;
  /** The number of all these keys, also of those that are not among the rows. */
  readonly total: number;
}

/** Counts the keys in the background. */
export interface EndingKeys extends Disposable {
  /** 0 until the first count, a minute after the start. While PostgreSQL is unavailable, the last count. */
  count(): number;
}

const intervalMs = 60_000;

export function createEndingKeys(database: Pick<Database, "run">, log: Log): EndingKeys {
  const timer = setInterval(read, intervalMs).unref();
  let total = 0;
  let isReading = false;
  let hasFailed = false;

  async function read(): Promise<void> {
    if (isReading) return;
    isReading = true;
    try {
      const [first] = await database.run(selectEndingKeys, {});
      total = first?.total ?? 0;
      hasFailed = false;
    } catch (error) {
      if (!hasFailed)
        log.warn({ error }, "could not count the keys that end soon; each minute another attempt follows");
      hasFailed = true;
    }
    isReading = false;
  }

  return {
    count: () => total,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Those that end first. A `write`, because a store with many short-lived keys makes it slow, and reads share connections. */
export const selectEndingKeys: Statement<NoValues, EndingKey> = statement<NoValues, EndingKey>(
  "write",
  "select-ending-keys",
  () => sql<EndingKey>`
    select api_keys.id, accounts.name as "accountName", expires_at as "expiresAt", (count(*) over ())::int as total
    from api_keys join accounts on accounts.id = account_id
    where expires_at > now() and expires_at <= now() + interval '14 days' and revoked_at is null
      and last_used_on >= ${today} - 7 and suspended_at is null
    order by expires_at, api_keys.id
    limit 10`,
);

type NoValues = Record<never, never>;
