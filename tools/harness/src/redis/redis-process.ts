import { spawn } from "node:child_process";
import { loopback } from "@petstore/embedded-postgres";
import { Redis } from "ioredis";
import { searchPath } from "../processes/installed-program.js";
import { type Program, startProgram } from "../processes/program.js";

/** One `redis-server` from its start to its end. */
export interface RedisProcess {
  /** A connection for the tests. It ends with the process. */
  readonly connection: Redis;
  hasEnded(): boolean;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** SIGKILL, which also ends a paused process. */
  kill(): Promise<void>;
}

export interface RedisProcessOptions {
  readonly port: number;
  /** Cluster nodes write their view of the cluster here. Data is never written. */
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Resolves when it answers. Rejects with its output when it ends before. */
export async function startRedis(options: RedisProcessOptions): Promise<RedisProcess> {
  const program = startProgram({
    name: "redis-server",
    command: "redis-server",
    args: directives(options),
    environment: { PATH: searchPath() },
  });
  const { hasEnded } = program;
  endWithThisProcess(program, options.directory);
  const connection = connect(options.port, hasEnded);
  const disconnected = new Promise<void>((resolve) => connection.once("end", () => resolve()));
  void program.ended.then(() => {
    // Disconnecting while it waits to reconnect would leave it waiting forever: its retry strategy ends it.
    if (connection.status !== "reconnecting") connection.disconnect();
  });
  const kill = async (): Promise<void> => {
    await program.kill();
    await disconnected;
  };
  try {
    const info = await connection.info("server");
    if (!info.includes(`\r\nprocess_id:${program.pid}\r\n`)) {
      // Another server has taken the port and answers. This one is about to end.
      await program.ended;
      throw new Error("Its port was taken");
    }
  } catch (error) {
    const isOwnEnd = hasEnded();
    await kill();
    throw isOwnEnd ? new Error(`redis-server ended before it answered:\n${program.output.join("\n")}`) : error;
  }
  return {
    connection,
    hasEnded,
    signal(signal) {
      if (hasEnded()) throw new Error("redis-server is not running");
      program.signal(signal);
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

/** Queues commands until it is connected. Reconnects when a test ends every connection of the server. */
function connect(port: number, hasEnded: () => boolean): Redis {
  const connection = new Redis({
    host: loopback,
    port,
    retryStrategy: () => (hasEnded() ? null : 10),
    maxRetriesPerRequest: null,
    // Tests count commands, so the client sends none by itself.
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  });
  // The waiting command rejects.
  connection.on("error", () => {});
  return connection;
}

/**
 * A killed test run must not leave servers behind. A shell waits on a pipe that only this process holds open. A line
 * tells it that the server has ended. The end of the file tells it to kill the server. The shell is detached, so that
 * Ctrl-C does not reach it.
 */
function endWithThisProcess(program: Program, directory: string): void {
  const script = 'read -r line || { kill -9 "$1"; rm -rf "$2"; }';
  const guard = spawn("sh", ["-c", script, "redis-guard", String(program.pid), directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin.on("error", () => {});
  void program.ended.then(() => guard.stdin.end("\n"));
}
