import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPortFree, loopback } from "@petstore/embedded-postgres";
import { type RedisProcess, startRedis } from "./redis-process.js";

export interface RedisServerOptions {
  /** Directives of redis.conf by their names. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A Redis that keeps nothing on disk, and its faults. Disposing ends it in any state. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly state: "running" | "paused" | "killed";
  /**
   * Uses a connection of its own, so that it works while clients are cut off. Waits while the server is paused, rejects
   * while it is killed.
   */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** SIGKILL: connections are reset, new ones refused. */
  kill(): Promise<void>;
  /** Kills it if it runs, and starts it empty on the same port. Resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open, new ones are accepted, nothing is answered. `resume` executes the received commands. */
  pause(): void;
  resume(): void;
}

const startAttempts = 3;
/** A node of a Redis Cluster also listens this far above its own port. Redis 6.2 cannot change it. */
const clusterBusOffset = 10_000;
const lowestPort = 10_000;
/** The bus port stays below 32768, where the ports of outgoing connections begin on Linux. */
const highestPort = 32_767 - clusterBusOffset;

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
      if (life.hasEnded()) return "killed";
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

/** Another process may take a port between its choice and the start. */
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

/** Returns a port that is free now, with its cluster bus port. Another process may take it before the start. */
async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowestPort, highestPort + 1);
    if ((await isPortFree(port)) && (await isPortFree(port + clusterBusOffset))) return port;
  }
  throw new Error(`No free port between ${lowestPort} and ${highestPort} on ${loopback}`);
}
