import { type ChildProcess, spawn } from "node:child_process";
import type { EventEmitter } from "node:events";
import { loopback } from "@petstore/embedded-postgres";
import { Redis } from "ioredis";

/** One life of a `redis-server`: from its start until it is killed. */
export interface RedisProcess {
  /** Of the tests alone; ends with the process. */
  readonly connection: Redis;
  hasExited(): boolean;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** SIGKILL, which ends a stopped process too. */
  kill(): Promise<void>;
}

export interface RedisProcessOptions {
  readonly port: number;
  /** Where it may write: a cluster node its view of the cluster, nobody any data. */
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Resolves when it answers. Rejects with its last words when it ends before. */
export async function startRedis(options: RedisProcessOptions): Promise<RedisProcess> {
  const child = spawn("redis-server", directives(options), { stdio: ["ignore", "pipe", "pipe"] });
  const lastWords = logOf(child);
  await spawned(child);
  endWithThisProcess(child, options.directory);
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const connection = connect(options.port, hasExited);
  const over = Promise.all([eventOf(child, "exit"), eventOf(connection, "end")]);
  child.once("exit", () => {
    // Disconnecting one that waits to reconnect would leave it waiting for ever: its retry strategy ends it instead.
    if (connection.status !== "reconnecting") connection.disconnect();
  });

  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await over;
  };
  try {
    const info = await connection.info("server");
    // Another server took the port in between and answers in its place; ours is about to give up.
    if (!info.includes(`\r\nprocess_id:${child.pid}\r\n`)) {
      await over;
      throw new Error("Its port was taken");
    }
  } catch (error) {
    const reason = hasExited() ? new Error(`redis-server ended before it answered:\n${await lastWords}`) : error;
    await kill();
    throw reason;
  }
  return {
    connection,
    hasExited,
    signal(signal) {
      if (!child.kill(signal)) throw new Error("redis-server is not running");
    },
    kill,
  };
}

function directives({ port, directory, settings }: RedisProcessOptions): string[] {
  return Object.entries({
    port: String(port),
    bind: loopback,
    dir: directory,
    save: "",
    appendonly: "no",
    "maxmemory-policy": "noeviction",
    loglevel: "warning",
    ...settings,
  }).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Queues until it is connected, and reconnects when a test cuts every connection of the server. */
function connect(port: number, hasExited: () => boolean): Redis {
  const connection = new Redis({
    host: loopback,
    port,
    retryStrategy: () => (hasExited() ? null : 10),
    maxRetriesPerRequest: null,
    // No commands of its own among those that a test counts.
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  });
  // Whoever waits for a command learns of it.
  connection.on("error", () => {});
  return connection;
}

/**
 * A killed test run must not leave servers behind, and Redis cannot be told to end with its parent. A shell waits on a
 * pipe whose other end only this process holds: a line says that the server has ended, the end of the file that nobody
 * is left to end it. Detached, so that Ctrl-C does not reach it.
 */
function endWithThisProcess(child: ChildProcess, directory: string): void {
  const script = 'read -r line || { kill -9 "$1"; rm -rf "$2"; }';
  const guard = spawn("sh", ["-c", script, "redis-guard", String(child.pid), directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin.on("error", () => {});
  child.once("exit", () => guard.stdin.end("\n"));
}

/** Resolves when it has ended, with what it has logged. */
async function logOf(child: ChildProcess): Promise<string> {
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  }
  await eventOf(child, "close");
  return log;
}

async function spawned(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve).once("error", reject);
  });
}

/** Unlike `once` of node:events it does not reject on errors, which come before these. */
async function eventOf(emitter: EventEmitter, name: "exit" | "close" | "end"): Promise<void> {
  await new Promise<void>((resolve) => emitter.once(name, () => resolve()));
}
