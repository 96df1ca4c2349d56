import { openCore, readConfig } from "@petstore/core";
import { openLog, openService, printError, untilSignal } from "@petstore/http";
import { createGraphqlRouter } from "./graphql-router.js";

const stopped = untilSignal();
try {
  const config = readConfig(process.env);
  await using output = openLog(config.logLevel);
  const deps = { log: output.log, now: Date.now };
  await using core = await openCore(config, deps);
  await using service = await openService({
    ...deps,
    core,
    config: config.http,
    routers: [createGraphqlRouter],
    droppedLogLines: output.droppedLines,
  });
  output.log.info({ url: service.url, metricsUrl: service.metricsUrl }, "listening");
  await stopped;
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
