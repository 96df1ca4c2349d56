import { openCore, readConfig } from "@petstore/core";
import { openLog } from "./observability/log.js";
import { printError } from "./observability/standard-output.js";
import { untilSignal } from "./server/listen.js";
import { type ApiRouter, openService } from "./service.js";

/** Runs one API until a signal stops the process. If it cannot start, prints one line and sets the exit status to 1. */
export async function runService(environment: NodeJS.ProcessEnv, router: ApiRouter): Promise<void> {
  const stopped = untilSignal();
  try {
    const config = readConfig(environment);
    await using output = openLog(config.logLevel);
    const deps = { log: output.log, now: Date.now, droppedLogLines: output.droppedLines };
    await using core = await openCore(config, deps);
    await using service = await openService({ ...deps, core, config: config.http, routers: [router] });
    output.log.info({ url: service.url, metricsUrl: service.metricsUrl }, "listening");
    await stopped;
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
}
