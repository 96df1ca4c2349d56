import { createTestDatabase } from "@petstore/harness";
import { startProgram } from "@petstore/harness/processes";
import { it as base } from "@petstore/harness/test-with-figures";
import type { StoreDatabase } from "../../src/store-database.js";
import { openMigratedDatabase } from "./database.js";
import { type Environment, openEnvironment } from "./environment.js";

interface Fixtures {
  $file: { sharedDatabase: StoreDatabase; idleOrigin: string };
  $test: { environment: Environment };
}

const idleServer = `const server = require("node:http").createServer((_, response) => response.end());
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/** A test with an environment. The oracles run after it. */
export const it = base.extend<Fixtures>({
  sharedDatabase: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern.
    async ({}, use) => {
      await using created = await createTestDatabase();
      await using database = await openMigratedDatabase(created.url);
      await use(database);
    },
    { scope: "file" },
  ],
  idleOrigin: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern.
    async ({}, use) => {
      await using program = startProgram({ name: "The idle server", args: ["--eval", idleServer], environment: {} });
      const [port] = await program.printed(/^\d+$/m);
      await use(`http://127.0.0.1:${port}`);
    },
    { scope: "file" },
  ],
  environment: async ({ sharedDatabase, idleOrigin, figures, task }, use) => {
    await using environment = openEnvironment({ sharedDatabase, idleOrigin, figures });
    await use(environment);
    if (task.result?.state !== "fail") await environment.checkOracles();
  },
});
