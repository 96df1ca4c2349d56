// A vitest global setup: one first start for the whole run, which most tests then copy instead of waiting for their own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedPostgres } from "@petstore/embedded-postgres";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    templateDirectory: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-template-"));
  const opened = await openEmbeddedPostgres(directory);
  if ("holderPid" in opened) throw new Error("A new directory is in use");
  await opened[Symbol.asyncDispose]();
  project.provide("templateDirectory", directory);
  return () => rm(directory, { recursive: true, force: true });
}
