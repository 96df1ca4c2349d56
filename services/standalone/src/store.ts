import { migrate, openCore } from "@petstore/core";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { createGraphqlRouter } from "@petstore/graphql";
import { openLog, openService, printError } from "@petstore/http";
import { createRestRouter } from "@petstore/rest";
import type { StoreConfig } from "./store-config.js";
import { createDemoAccount, welcome } from "./welcome.js";

/** Serves both APIs over an embedded PostgreSQL until `stopped` resolves. Throws if the database is lost before. */
export async function serveStore(config: StoreConfig, stopped: Promise<unknown>): Promise<void> {
  const { directory, warning } = config;
  const opened = await openEmbeddedPostgres(directory);
  if ("holderPid" in opened) {
    throw new Error(`The pet store of ${directory} is already running, as process ${opened.holderPid}.`);
  }
  await using postgres = opened;
  await migrate(postgres.ownerUrl);
  await using output = openLog(config.log);
  const deps = { log: output.log, now: Date.now };
  await using core = await openCore({ ...config, database: { ...config.database, url: postgres.url } }, deps);
  const { dropped: droppedLogLines } = output;
  // REST comes first: its page at `/` is the one that `npm start` shows.
  const createRouters = [createRestRouter, createGraphqlRouter];
  await using service = await openService({ ...deps, core, config: config.http, createRouters, droppedLogLines });
  if (warning !== undefined) printError(warning);
  output.print(welcome(service.url, directory, await createDemoAccount(core, config.isTestStore ? "test" : "live")));
  const lost = await Promise.race([stopped, postgres.lost]);
  if (lost instanceof Error) throw lost;
  output.print("Stopping ...\n");
}
