import { describe, test } from "vitest";
import { isInstalled } from "./processes/installed-program.js";

/** A suite that needs a program. Without the program it is skipped, with a line about it. With CI set it fails instead. */
export function describeWithProgram(program: string, name: string, suite: () => void): void {
  if (isInstalled(program)) {
    describe(name, suite);
  } else if (!isCi()) {
    process.stderr.write(`Skipped, because ${program} is not in PATH: ${name}\n`);
    describe.skip(name, suite);
  } else {
    test(name, () => {
      throw new Error(`${program} is not in PATH. A machine with CI set must have it`);
    });
  }
}

/** A suite that needs `redis-server`. */
export function describeWithRedis(name: string, suite: () => void): void {
  describeWithProgram("redis-server", name, suite);
}

export function isRedisInstalled(): boolean {
  return isInstalled("redis-server");
}

function isCi(): boolean {
  // biome-ignore lint/style/noProcessEnv: only tests use this.
  return (process.env.CI ?? "") !== "";
}
