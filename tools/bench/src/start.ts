import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import type { Comparable, CompareDeps } from "./comparison.js";
import { openTemporaryDirectory } from "./scene.js";

const seconds = { label: "seconds to the first answer", digits: 2, better: "lower" } as const;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const timeoutMs = 120_000;

/** The time from `npm start` to the first response, when everything is installed, built and migrated. */
export const start: Comparable = {
  name: "start",
  summary: "npm start, warm, to the first answer",
  measures: { seconds },
  words: { contestant: "command", callers: "callers" },
  rounds: 3,
  goals: [
    { measure: "seconds", of: "npm start", atMost: 2.5 },
    { measure: "seconds", of: "npm start", atMost: 1, uncounted: "stretch goal" },
  ],
  ratios: [],
  async compare({ rounds }, deps) {
    await using directory = await openTemporaryDirectory();
    const measured: { readonly seconds: number }[] = [];
    for (let round = 0; round <= rounds; round++) {
      const taken = await measureStart(directory.path, deps);
      deps.progress(`${round === 0 ? "Warm-up" : `Round ${round} of ${rounds}`}: ${taken.toFixed(2)} s`);
      if (round > 0) measured.push({ seconds: taken });
    }
    return [{ rounds: new Map([["npm start", measured]]) }];
  },
};

async function measureStart(directory: string, { signal }: CompareDeps): Promise<number> {
  const port = await choosePort(undefined);
  const startedAtMs = performance.now();
  // A process group of its own: npm, its shell and the service end together.
  const command = [`PETSTORE_DIR=${directory}`, `PORT=${port}`, "npm", "start"];
  const child = spawn("env", command, { cwd: root, stdio: "ignore", detached: true });
  const exit = once(child, "exit");
  try {
    await untilAnswering(`http://127.0.0.1:${port}/readyz`, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    return (performance.now() - startedAtMs) / 1_000;
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await exit;
    await untilSilent(`http://127.0.0.1:${port}/readyz`);
  }
}

async function untilAnswering(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if (await isAnswered(url)) return;
    await delay(20);
  }
}

/** npm may end before the service, which holds the database that the next start needs. */
async function untilSilent(url: string): Promise<void> {
  while (await isAnswered(url)) await delay(20);
}

async function isAnswered(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    // Nothing listens.
    return false;
  }
}
