import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loopback } from "@petstore/embedded-postgres";
import { findFreePort } from "../processes/free-port.js";
import { type RedisProcess, startRedis } from "./redis-process.js";

export interface RedisServerOptions {
  /** Directives of redis.conf by their names. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A Redis of the test's own that keeps nothing on disk, and the faults it can suffer. Disposing ends it in any state. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly state: "running" | "paused" | "killed";
  /**
   * Over a connection of its own, so that it reaches a server whose clients are cut off. Waits while the server is
   * paused, rejects while it is killed.
   */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** SIGKILL. Connections are reset, new ones refused. */
  kill(): Promise<void>;
  /** On the same port, empty; killed first if it runs. Resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and new ones are accepted, answers stop. What it received meanwhile it executes later. */
  pause(): void;
  resume(): void;
}

const startAttempts = 3;

/** Rejects with ENOENT on a machine without Redis. */
export async function openRedisServer({ settings = {} }: RedisServerOptions = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-redis-"));
  const start = (port: number) => startRedis({ port, directory, settings });
  try {
    const { port, life } = await startOnFreePort(start);
    return serverOf(port, life, start, directory);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

function serverOf(
  port: number,
  first: RedisProcess,
  start: (port: number) => Promise<RedisProcess>,
  directory: string,
): RedisServer {
  let life = first;
  let paused = false;
  const kill = async (): Promise<void> => {
    await life.kill();
    paused = false;
  };
  return {
    port,
    url: `redis://${loopback}:${port}`,
    get state() {
      if (life.hasExited()) return "killed";
      return paused ? "paused" : "running";
    },
    command: (name, ...args) => life.connection.call(name, ...args),
    kill,
    async restart() {
      await kill();
      life = await start(port);
    },
    pause() {
      life.signal("SIGSTOP");
      paused = true;
    },
    resume() {
      life.signal("SIGCONT");
      paused = false;
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Somebody else may take a port between its choice and the start. */
async function startOnFreePort(
  start: (port: number) => Promise<RedisProcess>,
): Promise<{ readonly port: number; readonly life: RedisProcess }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { port, life: await start(port) };
    } catch (error) {
      if (attempt === startAttempts) throw error;
    }
  }
}
