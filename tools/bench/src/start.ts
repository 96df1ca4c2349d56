import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import type { Benchmark, Measured } from "./benchmark.js";
import { measureRounds } from "./rounds.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const timeoutMs = 120_000;
const command = { name: "npm start" };

/** The time from `npm start` to the first response, with everything installed, built and migrated. */
export const start: Benchmark = {
  name: "start",
  summary: "npm start, warm, to the first response",
  measures: { seconds: { label: "seconds to the first response", digits: 2 } },
  targets: [{ measure: "seconds", of: command.name, atMost: 2.5, stretch: 1 }],
  defaults: { rounds: 3, seconds: 1, connections: [1] },
  isFixed: true,
  async run(options, deps) {
    await using directory = await openTemporaryDirectory();
    return await measureRounds([command], options, deps, () => measureStart(directory.path, deps.signal));
  },
};

async function measureStart(directory: string, signal: AbortSignal): Promise<Measured> {
  const port = await choosePort(undefined);
  const url = `http://127.0.0.1:${port}/readyz`;
  const startedAtMs = performance.now();
  // A process group: npm, its shell and the service end together.
  const words = [`PETSTORE_DIR=${directory}`, `PORT=${port}`, ...command.name.split(" ")];
  const child = spawn("env", words, { cwd: root, stdio: "ignore", detached: true });
  const exit = once(child, "exit");
  try {
    await untilReady(url, true, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    return { seconds: (performance.now() - startedAtMs) / 1_000 };
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await exit;
    // npm may end before the service, which holds the database of the next start.
    await untilReady(url, false, AbortSignal.timeout(timeoutMs));
  }
}

async function untilReady(url: string, expected: boolean, signal: AbortSignal): Promise<void> {
  while ((await isAnswering(url)) !== expected) {
    signal.throwIfAborted();
    await delay(20);
  }
}
