import { describe } from "vitest";
import { missingPrograms } from "./processes/installed-program.js";

/** A suite that needs a program. Without the program it is skipped, with a line about it. With CI set it fails instead. */
export function describeWithProgram(program: string, name: string, suite: () => void | Promise<void>): void {
  if (missingPrograms([program]).length === 0) {
    describe(name, suite);
    return;
  }
  process.stderr.write(`Skipped, because ${program} is not in PATH: ${name}\n`);
  describe.todo(name);
}

/** A suite that needs `redis-server`. */
export function describeWithRedis(name: string, suite: () => void | Promise<void>): void {
  describeWithProgram("redis-server", name, suite);
}
