// A PgBouncer in transaction mode in front of a PostgreSQL, both of one test run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loopback } from "@petstore/embedded-postgres";
import { findFreePort } from "../processes/free-port.js";

export interface PgBouncer extends AsyncDisposable {
  /** The server's address through it, which says what stands there. */
  readonly url: string;
}

/** PgBouncer refuses to run as root. */
const nobody = 65_534;
const startTimeoutMs = 5_000;

/** Passes on every database of the server. Rejects on a machine without `pgbouncer`. */
export async function openPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const port = await findFreePort();
  const directory = await mkdtemp(join(tmpdir(), "petstore-pgbouncer-"));
  const users = join(directory, "users");
  const settings = join(directory, "pgbouncer.ini");
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(settings, settingsOf(server, port, users));
  const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if ("uid" in account) {
    for (const path of [directory, users, settings]) await chown(path, nobody, nobody);
  }
  await chmod(users, 0o600);
  const child = spawn("pgbouncer", ["-q", settings], { stdio: "inherit", ...account });
  try {
    await untilListening(child, port);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const url = new URL(serverUrl);
  url.host = `${loopback}:${port}`;
  url.searchParams.set("pgbouncer", "true");
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      // SIGINT would wait for clients to leave.
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Few connections for many clients, so that what needs a session of its own does not get one by chance; and what a
 * service cannot set through it, shorter than the shortest statement timeout of a test that tells the two apart.
 */
function settingsOf(server: URL, port: number, users: string): string {
  return `[databases]
* = host=${server.hostname} port=${server.port} connect_query='set lock_timeout = 400'
[pgbouncer]
listen_addr = ${loopback}
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 8
max_client_conn = 2000
max_db_connections = 0
server_idle_timeout = 5
server_round_robin = 1
server_login_retry = 0
log_connections = 0
log_disconnections = 0
log_pooler_errors = 0
`;
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const failure = new AbortController();
  child.once("error", (error) => failure.abort(error));
  child.once("exit", (code) => failure.abort(new Error(`pgbouncer ended with exit code ${code}`)));
  const deadline = AbortSignal.timeout(startTimeoutMs);
  while (!(await isListening(port))) {
    failure.signal.throwIfAborted();
    deadline.throwIfAborted();
    await sleep(20, undefined, { signal: AbortSignal.any([failure.signal, deadline]) }).catch(() => {});
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: loopback, port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    // Not yet; whoever waits has a deadline.
    return false;
  } finally {
    socket.destroy();
  }
}
