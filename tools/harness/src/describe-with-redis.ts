import { describeWithProgram } from "./describe-with-program.js";
import { isInstalled } from "./processes/installed-program.js";

/** Whether a `redis-server` can be started, as far as looking tells. */
export function isRedisInstalled(): boolean {
  return isInstalled("redis-server");
}

/** A suite that needs `redis-server`. */
export function describeWithRedis(name: string, suite: () => void): void {
  describeWithProgram("redis-server", name, suite);
}
