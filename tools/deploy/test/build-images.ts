// Executes the build of the Dockerfile once for a test run. vitest calls `setup` by its name.
import type { TestProject } from "vitest/node";
import { executeBuild } from "./dockerfile.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Has a folder for each image, with its program. */
    imagesDirectory: string;
  }
}

/** Provides `imagesDirectory`; returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await executeBuild();
  project.provide("imagesDirectory", built.directory);
  return async () => built[Symbol.asyncDispose]();
}
