import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serviceFlags } from "@petstore/harness/service-flags";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** A standalone store as a process of its own, and what it printed. */
export interface StoreProcess {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Resolves when the output matches; rejects when the process ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** The exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
}

export function startStore(directory: string, environment: Record<string, string> = {}): StoreProcess {
  const child = spawn(process.execPath, [...serviceFlags, main], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, PETSTORE_DIR: directory, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exit = once(child, "close").then(([code, signal]) => code ?? signal);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      child.emit("output");
    });
  }
  return {
    process: child,
    output: () => output,
    async printed(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        const hasEnded = await Promise.race([once(child, "output").then(() => false), exit.then(() => true)]);
        if (hasEnded && !pattern.test(output)) throw new Error(`the store ended and printed: ${output}`);
      }
    },
    ended: () => exit,
  };
}

/** A directory for the data of one test, removed with it. */
export async function openDirectory(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "petstore-standalone-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
