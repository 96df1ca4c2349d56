// One throw-away PostgreSQL for a whole run; vitest calls the two exports by name.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedDatabase } from "@petstore/embedded-database";
import type { TestProject } from "vitest/node";
import type {} from "./test-database.js";

/** Provides `postgresUrl`. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-test-"));
  const opened = await openEmbeddedDatabase({ directory, durable: false });
  if (opened.kind === "in-use") throw new Error(`Process ${opened.holderPid} uses a directory that was just created`);
  project.provide("postgresUrl", opened.database.url);
  return async () => {
    await opened.database[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  };
}
