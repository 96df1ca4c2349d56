// A directory belongs to the process whose connection holds an advisory lock in its server. The kernel closes that
// connection when the process dies, however it dies, so there is nothing stale to clean up and no process number to trust.
import pg from "pg";
import type { Cluster } from "./cluster.js";
import { connectWithScram, type ScramConnection } from "./connection.js";

export type Claim =
  /** The ownership lasts as long as the connection. */
  | { readonly kind: "owner"; readonly connection: ScramConnection }
  | { readonly kind: "held"; readonly holderPid: number }
  | { readonly kind: "unreachable" }
  /** This stays however long we wait. */
  | { readonly kind: "refused"; readonly cause: unknown };

export async function claimOwnership({ superuserPassword }: Cluster, port: number): Promise<Claim> {
  let client: pg.Client | undefined;
  try {
    const connection = await connectWithScram("superuser", superuserPassword, port, "postgres");
    client = connection.client;
    const holderPid = await lockOrHolder(client);
    if (holderPid === undefined) return { kind: "owner", connection };
    await client.end();
    return { kind: "held", holderPid };
  } catch (cause) {
    await client?.end().catch(() => {});
    return isRefusal(cause) ? { kind: "refused", cause } : { kind: "unreachable" };
  }
}

/** Undefined: the lock is ours. */
async function lockOrHolder(client: pg.Client): Promise<number | undefined> {
  const lock = await client.query<{ ours: boolean }>("SELECT pg_try_advisory_lock(1) AS ours");
  if (lock.rows[0]?.ours === true) return undefined;
  const holder = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND pg_locks.database = datid AND datname = current_database()`,
  );
  const pid = Number(holder.rows[0]?.name.split(" ").at(-1));
  if (Number.isInteger(pid)) return pid;
  throw new Error("The owner left in this moment");
}

/** A wrong password, a full disk, a damaged catalogue. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  // 57P01-57P03: stopping or still starting. 53300: every connection is taken, which passes.
  return !(error.code?.startsWith("57P") || error.code === "53300");
}
