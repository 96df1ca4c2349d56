import { migrate, openCore, readConfig } from "@petstore/core";
import { dataDirectory, openEmbeddedDatabase } from "@petstore/embedded-database";
import { openLog, openMetrics, openService, untilSignal } from "@petstore/http";
import { openRestDoor } from "@petstore/rest";
import { banner } from "./banner.js";
import { createDemoAccount } from "./demo-account.js";

const stopped = untilSignal();
void stopped.then(() => setTimeout(giveUp, 4_500).unref());
try {
  await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** Also a start that hangs ends within 5 seconds of Ctrl-C; the next one adopts what is left of it. */
function giveUp(): never {
  process.stderr.write("Stopping took too long.\n");
  process.exit(1);
}

async function run(): Promise<void> {
  const directory = dataDirectory(process.env.PETSTORE_DIR);
  // Read before anything starts, so that a fault in it costs no waiting. The database's own address is not known yet.
  const config = readConfig({ LOG_LEVEL: "warn", ...process.env, DATABASE_URL: "postgres://embedded" });
  const opened = await openEmbeddedDatabase({ directory });
  if (opened.kind === "in-use") {
    throw new Error(`The pet store of ${directory} is already running, as process ${opened.holderPid}.`);
  }
  await using database = opened.database;
  await migrate(database.url);
  using output = openLog(config.logLevel);
  const deps = { log: output.log, now: Date.now };
  const databaseConfig = { ...config.database, url: database.url };
  await using core = await openCore({ quota: config.quota, database: databaseConfig }, deps);
  await using _metrics = await openMetrics({ core, config: config.http });
  await using store = await openService({ ...deps, core, config: config.http, doors: [openRestDoor] });
  process.stdout.write(banner({ url: store.url, dataDirectory: directory, demoKey: await createDemoAccount(core) }));
  const lost = await Promise.race([stopped, database.lost]);
  if (lost instanceof Error) throw lost;
  process.stdout.write("Stopping ...\n");
}
