import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import { restRouter } from "./api.js";
import { type Program, startProgram } from "./program.js";
import type { Stage } from "./stage.js";

/** What `npm start` runs. */
export const standaloneMain: URL = new URL("../../../services/standalone/dist/main.js", import.meta.url);

const timeoutMs = 30_000;

export interface RunningStore {
  readonly program: Program;
  readonly origin: string;
  readonly api: typeof restRouter;
}

/** Starts one store after the other. Disposing stops the last one as an operator does: killed, it would leave its PostgreSQL. */
export function createKeeper(
  directory: string,
  hear: Stage["hear"],
): AsyncDisposable & { start(): Promise<RunningStore> } {
  let newest: Promise<RunningStore> | undefined;
  let isDisposed = false;
  return {
    start() {
      if (isDisposed) throw new Error("the row is over");
      newest = startStore(directory, hear);
      return newest;
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      const last = await newest?.catch(() => undefined);
      await last?.program.stop();
    },
  };
}

async function startStore(directory: string, hear: Stage["hear"]): Promise<RunningStore> {
  const port = await choosePort(undefined);
  const origin = `http://127.0.0.1:${port}`;
  const program = startProgram({
    main: standaloneMain,
    environment: { PETSTORE_DIR: directory, PORT: `${port}`, BAN_STRIKES: "0" },
  });
  hear({
    get output() {
      return withoutDemoKey(program.output);
    },
  });
  const startMs = performance.now();
  while (!program.output.some((line) => line.includes(" ready at "))) {
    if (program.hasEnded() || performance.now() - startMs > timeoutMs) {
      await program.stop();
      throw new Error(`the store did not start: ${program.output.at(-1) ?? "it says nothing"}`);
    }
    await sleep(5);
  }
  return { program, origin, api: restRouter };
}

/** The first start shows it to its user, on purpose, alone on a line and in commands to try. */
function withoutDemoKey(output: readonly string[]): readonly string[] {
  const demoKey = output.find((line) => /^ {2}pets_test_\w+$/.test(line))?.trim();
  return demoKey === undefined ? output : output.map((line) => line.replace(demoKey, ""));
}

/** Rejects where it does not come to that in time. */
export async function until(holds: () => boolean): Promise<void> {
  const startMs = performance.now();
  while (!holds()) {
    if (performance.now() - startMs > timeoutMs) throw new Error(`not within ${timeoutMs / 1_000} s: ${holds}`);
    await sleep(5);
  }
}

export async function postmasterOf(directory: string): Promise<number> {
  return Number.parseInt(await readFile(join(directory, "cluster", "data", "postmaster.pid"), "utf8"), 10);
}

export async function openDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "petstore-faults-standalone-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
