import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
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
    return await measureRounds([command], options, deps, () => measureStart(directory.path));
  },
};

/** Ends the service before it returns: npm passes the signal on, and its output stays open until the service has ended. */
async function measureStart(directory: string): Promise<Measured> {
  const port = `${await choosePort(undefined)}`;
  const startedAtMs = performance.now();
  await using program = startProgram({
    name: command.name,
    command: "npm",
    args: ["start"],
    directory: root,
    // biome-ignore lint/style/noProcessEnv: npm and Node.js keep their settings, which the first start needs to install.
    environment: { ...process.env, PETSTORE_DIR: directory, PORT: port },
  });
  await program.until(() => isAnswering(`http://127.0.0.1:${port}/readyz`), timeoutMs);
  return { seconds: (performance.now() - startedAtMs) / 1_000 };
}
