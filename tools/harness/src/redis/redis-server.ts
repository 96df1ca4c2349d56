import { choosePort, loopback } from "@petstore/embedded-postgres";
import { Redis } from "ioredis";
import { type Program, startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether, whenKilled } from "../processes/resources.js";

/** A Redis that keeps nothing on disk, and its faults. Disposing ends it in any state. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** False while it is paused or killed. */
  readonly isRunning: boolean;
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

type Settings = Readonly<Record<string, string>>;

/** One process, and a connection that ends with it. */
interface Run {
  readonly program: Program;
  readonly connection: Redis;
}

/** Rejects on a machine without Redis. The settings are directives of redis.conf by their names. */
export function openRedisServer({ settings = {} }: { readonly settings?: Settings } = {}): Promise<RedisServer> {
  return openRedisProcess({ settings, ready: /Ready to accept connections/, password: settings.requirepass });
}

interface RedisProcessOptions {
  readonly settings: Settings;
  /** The arguments before the settings. The directory is private to this process. */
  readonly args?: (directory: string) => Promise<readonly string[]>;
  /** The line that it prints when it answers. */
  readonly ready: RegExp;
  /** The password that it asks for. */
  readonly password?: string | undefined;
}

/** A Redis or a Sentinel: both are the same program. */
export function openRedisProcess(options: RedisProcessOptions): Promise<RedisServer> {
  return openTogether(async (use) => {
    const { path } = use(await openTemporaryDirectory());
    const port = await choosePort(undefined);
    let run = await startRedis(port, path, options);
    let isPaused = false;
    const kill = async (): Promise<void> => {
      await run.program.kill();
      isPaused = false;
    };
    const server: RedisServer = {
      port,
      url: `redis://${loopback}:${port}`,
      get isRunning() {
        return !isPaused && !run.program.hasEnded();
      },
      command: (name, ...args) => run.connection.call(name, ...args),
      kill,
      async restart() {
        await kill();
        run = await startRedis(port, path, options);
      },
      pause() {
        run.program.signal("SIGSTOP");
        isPaused = true;
      },
      resume() {
        run.program.signal("SIGCONT");
        isPaused = false;
      },
      [Symbol.asyncDispose]: kill,
    };
    return use(server);
  });
}

export function running(servers: readonly RedisServer[]): readonly RedisServer[] {
  return servers.filter(({ isRunning }) => isRunning);
}

/** The answer of ROLE, which begins with `master`, `slave` or `sentinel`. */
export async function roleOf(server: RedisServer): Promise<readonly unknown[]> {
  return (await server.command("ROLE")) as readonly unknown[];
}

async function startRedis(
  port: number,
  directory: string,
  { settings, args = async () => [], ready, password }: RedisProcessOptions,
): Promise<Run> {
  const directives = {
    port: `${port}`,
    bind: loopback,
    // Cluster nodes write their view of the cluster here. Data is never written.
    dir: directory,
    save: "",
    ...settings,
  };
  const directiveArgs = Object.entries(directives).flatMap(([name, value]) => [`--${name}`, value]);
  const program = startProgram({
    name: "redis-server",
    command: "redis-server",
    args: [...(await args(directory)), ...directiveArgs],
  });
  const guard = whenKilled(directory, `kill -9 ${program.pid}`);
  void program.ended.then(() => guard[Symbol.asyncDispose]());
  await program.printed(ready);
  return { program, connection: connect(port, program, password) };
}

/** Reconnects when a test ends every connection of the server. */
function connect(port: number, { hasEnded, ended }: Program, password?: string): Redis {
  const connection = new Redis({
    host: loopback,
    port,
    ...(password && { password }),
    retryStrategy: () => (hasEnded() ? null : 10),
    maxRetriesPerRequest: null,
    // Tests count commands, so the client sends none by itself.
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  });
  // The waiting command rejects.
  connection.on("error", () => {});
  void ended.then(() => {
    // Disconnecting while it waits to reconnect would leave it waiting forever: its retry strategy ends it.
    if (connection.status !== "reconnecting") connection.disconnect();
  });
  return connection;
}
