import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "@petstore/embedded-postgres";
import pg from "pg";
import { openTemporaryDirectory, openTogether, whenKilled } from "../processes/resources.js";
import { postmasterOf } from "../processes/standalone-store.js";

/** A PostgreSQL and its faults. Its addresses are the same through every restart. Disposing ends it in any state. */
export interface PostgresServer extends AsyncDisposable {
  /** For the role that owns the database. */
  readonly url: string;
  /** For the role of the services, which can change no table. */
  readonly serviceUrl: string;
  /** For the superuser. */
  readonly administratorUrl: string;
  /** As `pg_ctl stop -m immediate`: connections are reset, new ones refused, and the next start recovers. */
  kill(): Promise<void>;
  /** Resolves when it takes connections. */
  restart(): Promise<void>;
  /** Restarts it as a standby, without a primary to follow. */
  restartAsStandby(): Promise<void>;
  /** Makes the standby a primary. Its connections stay open. */
  promote(): Promise<void>;
  /** Uses a new connection. */
  query(text: string): Promise<Record<string, unknown>[]>;
}

/** One connection. The faults of `PostgresServer` spare it. */
export interface Session extends AsyncDisposable {
  query(text: string): Promise<Record<string, unknown>[]>;
}

export async function openSession(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url, application_name: sparedName });
  // A killed server ends the connection; the next query rejects.
  client.on("error", () => {});
  await client.connect();
  return {
    query: async (text) => (await client.query(text)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Runs a statement in a session of its own, and returns its rows. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession(url);
  return await session.query(text);
}

/** The superuser's address of the PostgreSQL of this directory. `roleUrl` is the address for another role. */
export async function administratorUrl(directory: string, roleUrl: string): Promise<string> {
  const url = new URL(roleUrl);
  url.username = "postgres";
  url.password = (await readFile(join(directory, "cluster", "superuser-password"), "utf8")).trim();
  return url.href;
}

export async function openPostgresServer(): Promise<PostgresServer> {
  const temporary = await openTemporaryDirectory();
  const directory = temporary.path;
  let running: EmbeddedPostgres | undefined = await start(directory);
  const { ownerUrl: url, url: serviceUrl } = running;
  const superuserUrl = await administratorUrl(directory, url);

  async function kill(): Promise<void> {
    if (running === undefined) return;
    const stopped = running;
    running = undefined;
    signalProcess(await postmasterOf(directory), "SIGQUIT");
    // At once, because the owner starts a lost server again.
    await stopped[Symbol.asyncDispose]();
  }

  async function restart(): Promise<void> {
    await kill();
    running = await start(directory);
  }

  return {
    url,
    serviceUrl,
    administratorUrl: superuserUrl,
    kill,
    restart,
    async restartAsStandby() {
      await kill();
      await writeFile(join(directory, "cluster", "data", "standby.signal"), "");
      await restart();
    },
    promote: async () => void (await query(superuserUrl, "select pg_promote()")),
    query: (text) => query(url, text),
    async [Symbol.asyncDispose]() {
      await kill();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

/** Sessions with this application name cause or count the faults, so they are spared. */
export const sparedName: string = "petstore-harness";

function start(directory: string): Promise<EmbeddedPostgres> {
  return openTogether(async (use) => {
    // The number of the process changes, because the owner starts a lost server again.
    use(whenKilled(directory, 'kill -INT "$(head -n 1 "$1/cluster/data/postmaster.pid")"; sleep 1'));
    const opened = await openEmbeddedPostgres(directory);
    if ("holderPid" in opened) throw new Error(`Process ${opened.holderPid} uses a directory that was just created`);
    return { ...use(opened) };
  });
}

/** Does nothing when the process has ended. */
export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}
