// The build stage of the Dockerfile, once for a run; vitest finds `setup` by its name.
import type { TestProject } from "vitest/node";
import { executeBuildStage } from "./dockerfile.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Holds a folder for each image, with what it runs. */
    imagesDirectory: string;
  }
}

/** Provides `imagesDirectory`; returns the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await executeBuildStage();
  project.provide("imagesDirectory", built.directory);
  return async () => built[Symbol.asyncDispose]();
}
