import { openCore, readConfig } from "@petstore/core";
import { boundHeap, openLog, openService, untilSignal } from "@petstore/http";
import { openRestDoor } from "./rest-door.js";

boundHeap();
const stopped = untilSignal();
try {
  const config = readConfig(process.env);
  using output = openLog(config.logLevel);
  const deps = { log: output.log, now: Date.now };
  await using core = await openCore(config, deps);
  await using service = await openService({ ...deps, core, config: config.http, doors: [openRestDoor] });
  output.log.info({ url: service.url }, "listening");
  await stopped;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
