// A directory belongs to the process whose connection holds an advisory lock in its server. The kernel closes that
// connection when the process dies, however it dies, so there is nothing stale to clean up and no process number to trust.
import pg from "pg";
import { administrator, application, type Cluster } from "./cluster.js";
import { loopback } from "./port.js";

/** The connection that is the ownership. */
export interface Ownership {
  /** Makes what the first owner may have been killed before making. */
  createDatabase(): Promise<void>;
  /** Resolves when the server, or somebody through it, has ended the connection. */
  readonly ended: Promise<void>;
  release(): Promise<void>;
}

export type Claim =
  | { readonly kind: "owner"; readonly ownership: Ownership }
  | { readonly kind: "held"; readonly holderPid: number }
  | { readonly kind: "unreachable"; readonly cause: unknown };

const connectTimeoutMs = 3_000;

/** Connecting proves that it is this cluster's server: with SCRAM the server, too, shows that it knows the password. */
export async function claimOwnership(cluster: Cluster, port: number): Promise<Claim> {
  const client = connection(port, administrator, cluster.password, administrator);
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
  try {
    await client.connect();
    const holderPid = await lockOrHolder(client);
    if (holderPid === undefined) {
      const createMissing = () => createDatabase(client, cluster.password);
      return { kind: "owner", ownership: { ended, createDatabase: createMissing, release: () => client.end() } };
    }
    await client.end();
    return { kind: "held", holderPid };
  } catch (cause) {
    await client.end().catch(() => {});
    if (isRefusal(cause)) throw cause;
    return { kind: "unreachable", cause };
  }
}

/** Whether the application can connect there, which is also the proof that it is this cluster's server. */
export async function isServing(port: number, password: string): Promise<boolean> {
  const client = connection(port, application, password, application);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    // Nobody there, or another server on a port that was once ours: for the caller both mean that none runs.
    return false;
  }
}

function connection(port: number, user: string, password: string, database: string): pg.Client {
  const client = new pg.Client({
    host: loopback,
    port,
    user,
    password,
    database,
    ssl: false,
    application_name: `petstore owner ${process.pid}`,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // "end" follows, and is what tells the owner; without a listener the process would die of this event.
  client.on("error", () => {});
  return client;
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

async function createDatabase(client: pg.Client, password: string): Promise<void> {
  const found = await client.query<{ role: boolean; database: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
            EXISTS (SELECT FROM pg_database WHERE datname = $1) AS database`,
    [application],
  );
  if (found.rows[0]?.role !== true) {
    // No superuser, so that nothing a statement of the application does reaches the machine. Tests create databases.
    await client.query(`CREATE ROLE ${application} LOGIN CREATEDB PASSWORD ${client.escapeLiteral(password)}`);
  }
  if (found.rows[0]?.database !== true) {
    await client.query(`CREATE DATABASE ${application} OWNER ${application}`);
  }
}

/** What waiting does not mend: a wrong password, a full disk, a damaged catalogue. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  // 57P01-57P03: stopping or still starting. 53300: every connection is taken, which passes.
  return !(error.code?.startsWith("57P") || error.code === "53300");
}
