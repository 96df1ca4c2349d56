import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { type Statement, statement } from "../database/statement.js";
import type { Log } from "../log.js";
import { type KeyWithAccount, today } from "./key-repository.js";

/** Writes the day of the last use of each key in the background, at most once a day. */
export interface KeyUses extends Disposable {
  /** Call this with each key that a request reads from PostgreSQL. A refused key does not count as used. */
  record(key: KeyWithAccount): void;
}

/** Keys are collected for this time and written in one statement. */
const intervalMs = 1_000;
const keysPerStatement = 1_000;

export function createKeyUses(database: Pick<Database, "run">, log: Log): KeyUses {
  const unwritten = new Set<bigint>();
  const timer = setInterval(write, intervalMs).unref();
  let isWriting = false;
  let hasFailed = false;

  async function write(): Promise<void> {
    if (isWriting || unwritten.size === 0) return;
    isWriting = true;
    const ids = [...unwritten];
    unwritten.clear();
    try {
      await database.run(writeLastUse, { ids });
      hasFailed = false;
    } catch (error) {
      // The next look-up of each key, some seconds later, records the key again.
      if (!hasFailed) log.warn({ error }, "could not write when keys were last used; their next look-ups try again");
      hasFailed = true;
    }
    isWriting = false;
  }

  return {
    record(key) {
      const isRejected = key.revokedAt !== undefined || (key.expiresInMs !== undefined && key.expiresInMs <= 0);
      const isRefused = isRejected || key.accountSuspendedAt !== undefined;
      if (!key.isUsedToday && !isRefused && unwritten.size < keysPerStatement) unwritten.add(key.id);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Skips rows that another statement is changing. So this statement never waits, and instances cannot block each other. */
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
