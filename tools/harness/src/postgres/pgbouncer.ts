// A PgBouncer in transaction mode in front of a PostgreSQL.
import { chmod, chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort, loopback } from "@petstore/embedded-postgres";
import { searchPath } from "../processes/installed-program.js";
import { disposeOnFailure, startProgram } from "../processes/program.js";
import { openTemporaryDirectory } from "../processes/standalone-store.js";

export interface PgBouncer extends AsyncDisposable {
  /** The URL of the server through PgBouncer. A parameter names the PgBouncer. */
  readonly url: string;
}

/** PgBouncer refuses to run as root. */
const nobody = 65_534;

/** Serves every database of the server. Rejects on a machine without `pgbouncer`. */
export async function openPgBouncer(serverUrl: string): Promise<PgBouncer> {
  const server = new URL(serverUrl);
  const port = await choosePort(undefined);
  const directory = await openTemporaryDirectory();
  const users = join(directory.path, "users");
  const settings = join(directory.path, "pgbouncer.ini");
  await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  await writeFile(settings, settingsOf(server, port, users));
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if ("uid" in user) {
    for (const path of [directory.path, users, settings]) await chown(path, nobody, nobody);
  }
  await chmod(users, 0o600);
  // It gets SIGTERM at the end, because SIGINT waits until the clients leave.
  const program = startProgram({
    name: "pgbouncer",
    command: "pgbouncer",
    args: [settings],
    environment: { PATH: searchPath() },
    user,
  });
  const url = new URL(serverUrl);
  url.host = `${loopback}:${port}`;
  url.searchParams.set("pgbouncer", "true");
  const pgbouncer: PgBouncer = {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await program.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
  await disposeOnFailure(pgbouncer, program.printed(/process up/));
  return pgbouncer;
}

/**
 * Few connections for many clients, so that no client gets its own session by chance. A service cannot set the lock
 * timeout through PgBouncer. It is shorter than the statement timeouts of the tests, so that they can tell the two apart.
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
