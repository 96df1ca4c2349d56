import { open } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "@petstore/core";
import { choosePort } from "@petstore/embedded-postgres";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { openTemporaryDirectory, openTogether, probe, startProgram, type Usage } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import type { LoadedServer } from "../load/load.js";
import { storedPets, type Workload } from "../load/workload.js";
import { progress } from "../rounds.js";
import type { ServerProgram } from "./server-programs.js";

/** A server in a process of its own, with the requests that a workload sends to it. Disposing stops it. */
export interface MeasuredServer extends LoadedServer, AsyncDisposable {
  readonly name: string;
  usage(): Promise<Usage>;
  collectGarbage(): Promise<unknown>;
}

/** Servers over one private PostgreSQL and Redis. Disposing ends them all. */
export interface Environment extends AsyncDisposable {
  openServer(program: ServerProgram, workload: Workload): Promise<MeasuredServer>;
}

const accounts = 32;
/** The largest limit of the schema: no load uses it up. */
const unlimited = 2_147_483_647;

export function openEnvironment(): Promise<Environment> {
  progress("Starting PostgreSQL and Redis ...");
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const redis = use(await openRedisServer());
    const database = use(await openPostgresServer());
    const apiKeys = await fillDatabase(database);
    return {
      async openServer({ name, main, requests, takesKey, nodeOptions = [], environment }, workload) {
        progress(`Starting ${name} ...`);
        const port = `${await choosePort(undefined)}`;
        const origin = `http://127.0.0.1:${port}`;
        // The output goes to a file, because a pipe would cost the time of a reader.
        await using output = await open(join(directory.path, `${name}.log`), "a");
        const server = use(
          startProgram({
            name,
            args: [...nodeOptions, "--expose-gc", "--import", probe, main.pathname],
            environment: {
              ...{ NODE_ENV: "production", PORT: port, DATABASE_URL: database.url },
              ...(takesKey && { REDIS_URL: redis.url }),
              ...environment,
            },
            stdout: output.fd,
            hasChannel: true,
          }),
        );
        await server.until(() => fetch(origin).then(Boolean, () => false));
        return {
          name,
          origin,
          operations: workload.operations(requests),
          apiKeys: takesKey ? apiKeys.slice(0, workload.accounts) : [],
          usage: async () => (await server.ask("usage")) as Usage,
          collectGarbage: () => server.ask("collect garbage"),
          [Symbol.asyncDispose]: server[Symbol.asyncDispose],
        };
      },
    };
  });
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
     from generate_series(1, ${storedPets}) number`,
  );
  // Otherwise the autovacuum runs during a round.
  await query("vacuum analyze");
  return issued.map(({ key }) => key);
}
