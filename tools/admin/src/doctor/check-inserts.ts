import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { type Finding, ok, warning } from "./finding.js";

interface OpenInsert {
  /** Null for a prepared transaction. */
  readonly pid: number | null;
  /** Names the transaction, also if the process has begun a later one. */
  readonly transaction: string;
  readonly userName: string | null;
}

const check = "inserts of pets";
const pauseMs = 100;

/**
 * Checks that no transaction holds an insert of pets open. Only its own role may see since when, so this looks for as long as
 * the services do before they ignore an insert. An insert of a service ends within milliseconds, and this with it.
 */
export async function checkInserts(client: Client, writeTimeoutMs: number): Promise<Finding> {
  const longestMs = Math.max(5_000, writeTimeoutMs + 1_000);
  const startedAtMs = performance.now();
  let held = await openInserts(client);
  while (held.length > 0) {
    if (performance.now() - startedAtMs > longestMs) return describe(held, longestMs);
    await sleep(pauseMs);
    const open = new Set((await openInserts(client)).map(({ transaction }) => transaction));
    held = held.filter(({ transaction }) => open.has(transaction));
  }
  return ok(check, "none is held open");
}

function describe(held: readonly OpenInsert[], heldMs: number): Finding {
  const names = held.map(({ pid, userName }) =>
    pid === null ? "a prepared transaction" : `process ${pid} of ${userName ?? "another role"}`,
  );
  const found = `held open for more than ${heldMs / 1_000} s by ${names.join(", ")}`;
  const advice =
    "Commit it or end it (operations guide, An insert is held open). Lists ignore it, and a walk may miss its pets.";
  return warning(check, found, advice);
}

/** Every insert of pets holds this lock until its transaction ends, by a trigger of the table. */
async function openInserts(client: Client): Promise<readonly OpenInsert[]> {
  const { rows } = await client.query<OpenInsert>(`
    select pid, virtualtransaction as transaction, usename as "userName"
    from pg_locks left join pg_stat_activity using (pid)
    where locktype = 'advisory' and classid = 0 and objid = 730203051 and objsubid = 1 and granted
      and pg_locks.database = (select oid from pg_database where datname = current_database())
    order by pid`);
  return rows;
}
