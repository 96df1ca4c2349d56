// A PgBouncer in transaction mode in front of a PostgreSQL.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort, loopback } from "@petstore/embedded-postgres";
import { startProgram } from "../processes/program.js";
import { openTogether } from "../processes/resources.js";
import { openServerDirectory, serverUser } from "./installed-postgres.js";

export interface PgBouncer extends AsyncDisposable {
  /** The URL of the server through PgBouncer. A parameter names the PgBouncer. */
  readonly url: string;
}

/** Serves every database of the server. Rejects on a machine without `pgbouncer`. */
export function openPgBouncer(serverUrl: string): Promise<PgBouncer> {
  return openTogether(async (use) => {
    const server = new URL(serverUrl);
    const port = await choosePort(undefined);
    const directory = use(await openServerDirectory());
    const [users, settings] = [join(directory.path, "users"), join(directory.path, "pgbouncer.ini")];
    await writeFile(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
    await writeFile(settings, settingsOf(server, port, users));
    // PgBouncer refuses to run as root. It gets SIGTERM at the end, because SIGINT waits until the clients leave.
    const program = use(startProgram({ name: "pgbouncer", command: "pgbouncer", args: [settings], user: serverUser }));
    await program.printed(/process up/);
    // PgBouncer refuses the parameter `options`, which the URL of an embedded PostgreSQL has.
    const url = Object.assign(new URL(serverUrl), { host: `${loopback}:${port}`, search: "pgbouncer=true" });
    return { url: url.href };
  });
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
server_idle_timeout = 5
server_round_robin = 1
server_login_retry = 0
log_connections = 0
log_disconnections = 0
log_pooler_errors = 0
`;
}
