import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, test } from "vitest";

/** Whether a `redis-server` can be started, as far as looking tells. */
export function isRedisInstalled(): boolean {
  return environment("PATH").split(delimiter).some(hasRedisServer);
}

/**
 * A suite that needs `redis-server`. On a machine without it the suite is skipped and a line says so; where CI is set it
 * fails, because nobody reads there what was skipped.
 */
export function describeWithRedis(name: string, suite: () => void): void {
  if (isRedisInstalled()) describe(name, suite);
  else if (environment("CI") === "") {
    process.stderr.write(`Skipped, for there is no redis-server in PATH: ${name}\n`);
    describe.skip(name, suite);
  } else {
    test(name, () => {
      throw new Error("No redis-server in PATH, and CI is set: a machine that decides must have it");
    });
  }
}

function hasRedisServer(directory: string): boolean {
  try {
    accessSync(join(directory, "redis-server"), constants.X_OK);
    return true;
  } catch {
    // Absent or not executable: the search goes on in the next directory.
    return false;
  }
}

function environment(name: "PATH" | "CI"): string {
  // biome-ignore lint/style/noProcessEnv: where it runs is what this asks, on behalf of tests alone.
  return process.env[name] ?? "";
}
