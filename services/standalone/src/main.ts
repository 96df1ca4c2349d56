import { printError, untilSignal } from "@petstore/http";
import { serveStore } from "./store.js";
import { readStoreConfig } from "./store-config.js";

const stopped = untilSignal();
try {
  const config = readStoreConfig(process.env, process.getuid?.());
  void stopped.then(() => setTimeout(giveUp, config.stopTimeoutMs).unref());
  await serveStore(config, stopped);
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
