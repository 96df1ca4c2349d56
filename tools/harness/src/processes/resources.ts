import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A directory that disposing removes. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function openTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "petstore-temporary-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Opens several resources as one. They are disposed, the last one first, with the result or when `open` fails. */
export async function openTogether<Opened extends object>(
  open: (use: <Resource extends AsyncDisposable>(resource: Resource) => Resource) => Promise<Opened>,
): Promise<Opened & AsyncDisposable> {
  const disposals: (() => PromiseLike<void>)[] = [];
  const dispose = async (): Promise<void> => {
    for (const next of disposals.reverse()) await next();
  };
  try {
    const opened = await open((resource) => {
      disposals.push(resource[Symbol.asyncDispose].bind(resource));
      return resource;
    });
    return Object.assign(opened, { [Symbol.asyncDispose]: dispose });
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Runs a shell command on a directory, `$1`, if this process ends before the result is disposed: a killed test run must not
 * leave servers behind. A shell waits on a pipe that only this process holds open. A line tells it that nothing is left to
 * do, and the end of the file that this process has ended. The shell is detached, so that Ctrl-C does not reach it.
 */
export function whenKilled(directory: string, command: string): AsyncDisposable {
  const script = `read -r line || { ${command}; rm -rf "$1"; }`;
  const stdio = ["pipe", "ignore", "ignore"] as const;
  const { stdin } = spawn("sh", ["-c", script, "petstore-guard", directory], { stdio: [...stdio], detached: true });
  stdin?.on("error", () => {});
  return { [Symbol.asyncDispose]: async () => void stdin?.end("\n") };
}

const timeoutMs = 120_000;

/** Resolves with the first result that is neither false nor absent. Rejects after 120 s. */
export async function until<Found>(what: string, look: () => Promise<Found | false | undefined>): Promise<Found> {
  const startMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== false && found !== undefined) return found;
    if (performance.now() - startMs > timeoutMs) throw new Error(`Not after ${timeoutMs / 1_000} s: ${what}`);
    await sleep(20);
  }
}
