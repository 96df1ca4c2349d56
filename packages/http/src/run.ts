import { type Config, type Core, openCore, readConfig } from "@petstore/core";
import type { CreateApi } from "./api.js";
import { type OpenLog, openLog } from "./observability/open-log.js";
import { printError } from "./observability/standard-output.js";
import { untilSignal } from "./server/listen.js";
import { openService, type Service } from "./service.js";

export interface RunningStore {
  readonly core: Core;
  readonly service: Service;
  readonly output: OpenLog;
}

/** Opens the log, the core and the APIs of a process. When `whileRunning` ends, drains and closes them. */
export async function runStore(
  config: Config,
  createApis: readonly CreateApi[],
  whileRunning: (store: RunningStore) => Promise<void>,
): Promise<void> {
  await using output = openLog(config.log);
  const { log, dropped: droppedLogLines } = output;
  {
    await using core = await openCore(config, { log, now: Date.now });
    await using service = await openService(config.http, createApis, { core, log, droppedLogLines, now: Date.now });
    await whileRunning({ core, service, output });
  }
  log.info({}, "stopped");
}

/**
 * Runs a program until it returns, and then ends the process. The program gets a promise of the signal to stop. If it throws,
 * prints one line and exits with status 1.
 */
export async function runProgram(program: (stopped: Promise<NodeJS.Signals>) => Promise<void>): Promise<never> {
  try {
    await program(untilSignal());
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
  // Everything is closed. An export of traces to a receiver that does not answer would hold the process for 5 s.
  process.exit();
}

/** Runs one API. Log lines and traces show `serviceName`, unless OTEL_SERVICE_NAME is set. */
export function runService(environment: NodeJS.ProcessEnv, serviceName: string, createApi: CreateApi): Promise<never> {
  return runProgram(async (stopped) => {
    const config = readConfig({ ...environment, OTEL_SERVICE_NAME: environment.OTEL_SERVICE_NAME || serviceName });
    await runStore(config, [createApi], async ({ output, service: { url, metricsUrl } }) => {
      output.log.info({ url, metricsUrl }, "listening");
      await stopped;
    });
  });
}
