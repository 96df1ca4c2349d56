import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryDirectory, repository, startProgram } from "@petstore/harness/processes";
import type { Benchmark, Measured } from "./benchmark.js";
import { measureRounds } from "./rounds.js";

const timeoutMs = 120_000;
const command = { name: "npm start" };

/** The time from `npm start` to the first response, with everything installed, built and migrated. */
export const start: Benchmark = {
  name: "start",
  summary: "npm start, warm, to the first response",
  targets: [{ measure: "seconds to the first response", of: command.name, atMost: 2.5 }],
  rounds: 3,
  async run({ rounds }) {
    await using directory = await openTemporaryDirectory();
    return await measureRounds([command], rounds, () => measureStart(directory.path));
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
    directory: fileURLToPath(repository),
    // biome-ignore lint/style/noProcessEnv: npm and Node.js keep their settings, which the first start needs to install.
    environment: { ...process.env, NODE_ENV: undefined, PETSTORE_DIR: directory, PORT: port },
  });
  await program.until(() => isAnswering(`http://127.0.0.1:${port}/readyz`), timeoutMs);
  return { "seconds to the first response": (performance.now() - startedAtMs) / 1_000 };
}
