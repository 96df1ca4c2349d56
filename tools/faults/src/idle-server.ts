import { setTimeout as sleep } from "node:timers/promises";
import { startProgram } from "./program.js";

/** A server that does nothing, in a process of its own: as slow as the machine is at the moment. Disposing ends it. */
export interface IdleServer extends AsyncDisposable {
  readonly origin: string;
}

/** Built, also for a test that runs this module as it was written. */
const main = new URL("../dist/idle-server/main.js", import.meta.url);
const timeoutMs = 15_000;

export async function startIdleServer(): Promise<IdleServer> {
  const program = startProgram({ main, environment: {} });
  const startMs = performance.now();
  while (program.output.length === 0) {
    if (program.hasEnded() || performance.now() - startMs > timeoutMs) {
      await program.stop();
      throw new Error("the server that shows how slow the machine is did not start");
    }
    await sleep(5);
  }
  return {
    origin: `http://127.0.0.1:${program.output[0]}`,
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  };
}
