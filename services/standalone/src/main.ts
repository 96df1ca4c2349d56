import { migrate, openCore } from "@petstore/core";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { createGraphqlRouter } from "@petstore/graphql";
import { openLog, openService, printError, untilSignal } from "@petstore/http";
import { createRestRouter } from "@petstore/rest";
import { readStoreConfig } from "./store-config.js";
import { createDemoAccount, welcome } from "./welcome.js";

const stopped = untilSignal();
try {
  const config = readStoreConfig(process.env, process.getuid?.());
  const { directory, warning } = config;
  void stopped.then(() => setTimeout(giveUp, config.stopTimeoutMs).unref());
  const opened = await openEmbeddedPostgres(directory);
  if ("holderPid" in opened) {
    const { holderPid } = opened;
    throw new Error(
      `The pet store of ${directory} is already running, as process ${holderPid}: kill ${holderPid} stops it.`,
    );
  }
  await using postgres = opened;
  await migrate(postgres.ownerUrl);
  await using output = openLog(config.log);
  const deps = { log: output.log, now: Date.now };
  await using core = await openCore({ ...config, database: { ...config.database, url: postgres.url } }, deps);
  const { dropped: droppedLogLines } = output;
  // Both routers answer `/`. REST comes first, so that `/` is the reference page.
  const createRouters = [createRestRouter, createGraphqlRouter];
  await using service = await openService({ ...deps, core, config: config.http, createRouters, droppedLogLines });
  if (warning !== undefined) printError(warning);
  output.print(welcome(service.url, directory, await createDemoAccount(core, config.isTestStore ? "test" : "live")));
  const lost = await Promise.race([stopped, postgres.lost]);
  if (lost instanceof Error) throw lost;
  output.print("Stopping ...\n");
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
// Everything is closed. An export of traces to a receiver that does not answer would hold the process for 5 s.
process.exit();

/** Ends a start or a stop that hangs. The next start adopts the PostgreSQL that stays behind. */
function giveUp(): never {
  printError("Stopping took too long.");
  process.exit(1);
}
