import { open } from "node:fs/promises";
import { join } from "node:path";
import { openStoreDatabase } from "@petstore/checks/store-database";
import { migrate } from "@petstore/core";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import type { RunDeps } from "../benchmark.js";
import type { LoadedServer } from "../load/load.js";
import type { Workload } from "../load/workload.js";
import { openServer, type Server } from "./server.js";
import type { ServerProgram } from "./server-programs.js";

/** A server with the requests that a workload sends to it. */
export interface MeasuredServer extends Server, LoadedServer {}

type OpenServer = (program: ServerProgram, workload: Workload) => Promise<MeasuredServer>;

const pets = 10_000;
const accounts = 32;
/** The largest limit of the schema: no load uses it up. */
const unlimited = 2_147_483_647;

/** Opens servers over one private PostgreSQL and Redis, and ends them all when `use` has settled. */
export async function withServers<Result>(
  { progress, signal }: RunDeps,
  use: (open: OpenServer) => Promise<Result>,
): Promise<Result> {
  progress("Starting PostgreSQL and Redis ...");
  await using directory = await openTemporaryDirectory();
  await using redis = await openRedisServer();
  await using database = await openPostgresServer();
  const apiKeys = await fillDatabase(database);
  const servers: Server[] = [];
  try {
    return await use(async (program, workload) => {
      signal.throwIfAborted();
      progress(`Starting ${program.name} ...`);
      await using output = await open(join(directory.path, `${program.name}.log`), "a");
      const redisUrl = program.takesKey && { REDIS_URL: redis.url };
      const environment = { ...program.environment, DATABASE_URL: database.url, ...redisUrl };
      const server = await openServer({ ...program, environment }, output.fd);
      servers.push(server);
      return {
        ...server,
        operations: workload.operations(program.requests),
        apiKeys: program.takesKey ? apiKeys.slice(0, workload.accounts) : [],
      };
    });
  } finally {
    await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  }
}

/** Migrates an empty database, adds pets and accounts, and returns one key of each account. */
async function fillDatabase({ url, query }: PostgresServer): Promise<string[]> {
  await migrate(url);
  await using store = openStoreDatabase(url);
  const customLimits = { perMinute: unlimited, perDay: unlimited };
  const issued = await Promise.all(Array.from({ length: accounts }, () => store.issueKey({ customLimits })));
  await query(
    `insert into pets (name, category_id, status)
     select 'Pet ' || number, 1 + number % 50, (array['available', 'pending', 'sold'])[1 + number % 3]::pet_status
     from generate_series(1, ${pets}) number`,
  );
  // Otherwise the autovacuum runs during a round.
  await query("vacuum analyze");
  return issued.map(({ key }) => key);
}
