// The owner of a directory is the process whose connection holds an advisory lock in the server. The kernel closes the
// connection of a killed process. So no stale lock remains, and no process number must be trusted.
import pg from "pg";
import type { Cluster } from "./cluster.js";
import { connectWithScram, type ScramConnection } from "./connection.js";
import { type Postmaster, readPostmaster } from "./server.js";

export interface Owned extends ScramConnection {
  readonly postmaster: Postmaster;
}

export interface InUse {
  readonly holderPid: number;
}

const claimStatement = `
  SELECT pg_try_advisory_lock(1) AS "isOurs", (
    SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND pg_locks.database = datid AND datname = current_database()
    LIMIT 1
  ) AS holder`;

/** Resolves with undefined if the caller should ask again. Throws if waiting would not help. */
export async function claimOwnership(
  { data, superuserPassword }: Cluster,
  postmaster: Postmaster,
): Promise<Owned | InUse | undefined> {
  let client: pg.Client | undefined;
  try {
    const connection = await connectWithScram("superuser", superuserPassword, postmaster.port, "postgres");
    client = connection.client;
    const { rows } = await client.query<{ isOurs: boolean; holder: string | null }>(claimStatement);
    if (rows[0]?.isOurs !== true) {
      await client.end();
      const holderPid = Number(rows[0]?.holder?.split(" ").at(-1));
      // The owner may have left between the two parts of the statement.
      return Number.isInteger(holderPid) ? { holderPid } : undefined;
    }
    // A stopping server ends its connections one by one. If the owner's ends before ours, we get the lock. The server marks
    // `postmaster.pid` before it ends the first connection.
    const current = await readPostmaster(data);
    if (current?.pid === postmaster.pid && !current.stopping) return { ...connection, postmaster };
    await client.end();
  } catch (error) {
    await client?.end().catch(() => {});
    if (isRefusal(error)) throw error;
  }
  return undefined;
}

/** A wrong password, a full disk, a damaged catalogue. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  // 57P01 to 57P03: the server stops or still starts. 53300: every connection is in use.
  return !(error.code?.startsWith("57P") || error.code === "53300");
}
