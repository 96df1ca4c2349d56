import { boundHeap } from "@petstore/http/bound-heap";

boundHeap();
// What is imported statically would be read before the heap is bounded.
const { openCore, readConfig } = await import("@petstore/core");
const { openLog, openService, printError, untilSignal } = await import("@petstore/http");
const { createRestRouter } = await import("./rest-router.js");

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
    apis: [createRestRouter],
    families: output.families,
  });
  output.log.info({ url: service.url }, "listening");
  await stopped;
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
