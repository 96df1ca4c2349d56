import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort } from "@petstore/embedded-postgres";
import { openPostgresServer } from "@petstore/harness/postgres";
import { isInstalled, openTemporaryDirectory } from "@petstore/harness/processes";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import type { RunDeps } from "../benchmark.js";
import { type ProbedProgram, startProbedProgram } from "./probed-program.js";
import type { ServerProgram } from "./server-programs.js";
import { fillStore, type Store, type StoreOptions } from "./store.js";

/** A private PostgreSQL and Redis, and the servers of one benchmark. */
export interface Environment {
  /** A database of its own, filled as the options say. Equal options give the same database. */
  openStore(options?: StoreOptions): Promise<Store>;
  /** Starts a program with its default configuration, and waits until it answers HTTP. */
  openServer(program: ServerProgram, store: Store, options?: ServerOptions): Promise<Server>;
}

export interface ServerOptions {
  readonly name?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Command line options of its PostgreSQL sessions. */
  readonly databaseOptions?: string | undefined;
}

export interface Server extends AsyncDisposable {
  readonly name: string;
  readonly origin: string;
  readonly program: ProbedProgram;
}

/** Ends every server and both stores when `use` has settled. */
export async function withEnvironment<Result>(
  deps: RunDeps,
  use: (environment: Environment) => Promise<Result>,
): Promise<Result> {
  const { progress, signal } = deps;
  progress("Starting PostgreSQL and Redis ...");
  await using directory = await openTemporaryDirectory();
  await using redis = await openPrivateRedis();
  await using database = await openPostgresServer();
  await using servers = disposableList<AsyncDisposable>();
  const stores = new Map<string, Store>();
  return await use({
    async openStore(options = { pets: 10_000, accounts: 32 }) {
      const key = JSON.stringify(options);
      let store = stores.get(key);
      if (store === undefined) {
        const name = `store_${stores.size}`;
        await database.query(`create database ${name}`);
        const databaseUrl = Object.assign(new URL(database.url), { pathname: name }).href;
        store = await fillStore(databaseUrl, options, deps);
        stores.set(key, store);
      }
      return store;
    },
    async openServer({ main, nodeOptions = [], takesKey, ...program }, store, options = {}) {
      signal.throwIfAborted();
      const { name = program.name, environment, databaseOptions } = options;
      progress(`Starting ${name} ...`);
      const port = `${await choosePort(undefined)}`;
      const origin = `http://127.0.0.1:${port}`;
      const databaseUrl = new URL(store.databaseUrl);
      if (databaseOptions !== undefined) databaseUrl.searchParams.set("options", databaseOptions);
      // A pipe for the output would cost the time of a reader.
      const log = join(directory.path, `${name}.log`);
      await using output = await open(log, "a");
      const running = startProbedProgram({
        name,
        main,
        nodeOptions,
        environment: {
          DATABASE_URL: databaseUrl.href,
          PORT: port,
          ...(takesKey && { REDIS_URL: redis.url }),
          ...program.environment,
          ...environment,
        },
        stdout: output.fd,
      });
      servers.items.push(running);
      try {
        await running.until(() => fetch(origin).then(Boolean, () => false));
      } catch (cause) {
        throw new Error(`${cause}\n${await readFile(log, "utf8")}`, { cause });
      }
      return { name, origin, program: running, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
    },
  });
}

export async function openPrivateRedis(): Promise<RedisServer> {
  if (isInstalled("redis-server")) return await openRedisServer();
  throw new Error("There is no redis-server in PATH, and this benchmark needs one.");
}

export function disposableList<T extends AsyncDisposable>(): AsyncDisposable & { readonly items: T[] } {
  const items: T[] = [];
  return {
    items,
    async [Symbol.asyncDispose]() {
      await Promise.all(items.map((item) => item[Symbol.asyncDispose]()));
    },
  };
}
