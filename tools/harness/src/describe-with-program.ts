import { describe } from "vitest";
import { missingPrograms } from "./processes/installed-program.js";

/** A suite that needs programs. Without them it is skipped, with a line about it. With CI set it fails instead. */
export function describeWithProgram(
  needed: string | readonly string[],
  name: string,
  suite: () => void | Promise<void>,
): void {
  const missing = missingPrograms([needed].flat());
  if (missing.length === 0) {
    describe(name, suite);
    return;
  }
  process.stderr.write(`Skipped, because PATH has no ${missing.join(", ")}: ${name}\n`);
  describe.todo(name);
}

export function describeWithRedis(name: string, suite: () => void | Promise<void>): void {
  describeWithProgram("redis-server", name, suite);
}
