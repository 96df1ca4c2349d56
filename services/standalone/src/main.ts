import type { Api } from "@petstore/http";
import { boundHeap } from "@petstore/http/bound-heap";

boundHeap();
// What is imported statically would be read before the heap is bounded.
const { migrate, openCore, readConfig } = await import("@petstore/core");
const { dataDirectory, openEmbeddedPostgres } = await import("@petstore/embedded-postgres");
const { openLog, openService, printError, untilSignal } = await import("@petstore/http");
const { createRestRouter, restLinks } = await import("@petstore/rest");
const { banner } = await import("./banner.js");
const { createDemoAccount } = await import("./demo-account.js");
const { checkUser } = await import("./root-user.js");

const graphiqlPath = "/graphiql";

const stopped = untilSignal();
let timeoutMs = 4_500;
void stopped.then(() => setTimeout(giveUp, timeoutMs).unref());
try {
  await run();
} catch (error) {
  printError(error);
  process.exitCode = 1;
}

/** Also a start that hangs ends within 5 seconds of Ctrl-C, where no grace is set; the next one adopts what is left of it. */
function giveUp(): never {
  printError("Stopping took too long.");
  process.exit(1);
}

async function run(): Promise<void> {
  const directory = dataDirectory(process.env.PETSTORE_DIR);
  // Read before anything starts, so that a fault in it costs no waiting. The database's own address is not known yet.
  const noOther = { DATABASE_URL_FILE: "", DATABASE_DIRECT_URL: "", DATABASE_DIRECT_URL_FILE: "" };
  const embedded = { DATABASE_URL: "postgres://embedded", ...noOther };
  const config = readConfig({ LOG_LEVEL: "warn", ...process.env, ...embedded });
  timeoutMs += config.http.shutdownGraceMs;
  const warning = checkUser(process.getuid?.(), config.http);
  const opened = await openEmbeddedPostgres({ directory });
  if (opened.kind === "in-use") {
    throw new Error(`The pet store of ${directory} is already running, as process ${opened.holderPid}.`);
  }
  await using database = opened.database;
  // Loaded only now: Apollo takes half a second, which a start that is refused should not wait for.
  const { graphqlLinks, createGraphqlRouter } = await import("@petstore/graphql");
  await migrate(database.ownerUrl);
  await using output = openLog(config.logLevel);
  const deps = { log: output.log, now: Date.now };
  const databaseConfig = { ...config.database, url: database.url };
  await using core = await openCore({ quota: config.quota, database: databaseConfig }, deps);
  const links = restLinks(graphqlLinks(graphiqlPath));
  const apis: Api[] = [
    (api) => createRestRouter({ ...api, links }),
    (api) => createGraphqlRouter({ ...api, graphiql: { path: graphiqlPath, links } }),
  ];
  await using store = await openService({ ...deps, core, config: config.http, apis, families: output.families });
  if (warning !== undefined) printError(warning);
  output.print(banner({ url: store.url, dataDirectory: directory, demoKey: await createDemoAccount(core) }));
  const lost = await Promise.race([stopped, database.lost]);
  if (lost instanceof Error) throw lost;
  output.print("Stopping ...\n");
}
