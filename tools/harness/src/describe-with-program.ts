import { describe, test } from "vitest";
import { isInstalled } from "./processes/installed-program.js";

/**
 * A suite that needs a program of the machine. Without it the suite is skipped and a line says so; where CI is set it
 * fails, because nobody reads there what was skipped.
 */
export function describeWithProgram(program: string, name: string, suite: () => void): void {
  if (isInstalled(program)) describe(name, suite);
  else if (!isDeciding()) {
    process.stderr.write(`Skipped, for there is no ${program} in PATH: ${name}\n`);
    describe.skip(name, suite);
  } else {
    test(name, () => {
      throw new Error(`No ${program} in PATH, and CI is set: a machine that decides must have it`);
    });
  }
}

function isDeciding(): boolean {
  // biome-ignore lint/style/noProcessEnv: where it runs is what this asks, on behalf of tests alone.
  return (process.env.CI ?? "") !== "";
}
