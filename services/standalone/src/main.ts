import { migrate } from "@petstore/core";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import { createGraphqlApi } from "@petstore/graphql";
import { printError, runProgram, runStore } from "@petstore/http";
import { createRestApi } from "@petstore/rest";
import { readStoreConfig } from "./store-config.js";
import { createDemoAccount, welcome } from "./welcome.js";

await runProgram(async (stopped) => {
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
  const storeConfig = { ...config, database: { ...config.database, url: postgres.url } };
  // Both APIs answer `/`. REST comes first, so that `/` is the reference page.
  await runStore(storeConfig, [createRestApi, createGraphqlApi], async ({ core, service, output }) => {
    if (warning !== undefined) printError(warning);
    const mode = config.isTestStore ? "test" : "live";
    output.print(welcome(service.url, directory, mode, await createDemoAccount(core, mode)));
    const lost = await Promise.race([stopped, postgres.lost]);
    if (lost instanceof Error) throw lost;
    output.print("Stopping ...\n");
  });
});

/** Ends a start or a stop that hangs. The next start adopts the PostgreSQL that stays behind. */
function giveUp(): never {
  printError("Stopping took too long.");
  process.exit(1);
}
