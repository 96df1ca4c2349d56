import type { Goal } from "./goal.js";
import type { Measure } from "./round.js";
import type { Words } from "./words.js";
import type { Workload } from "./workload.js";

/** One workload for our service and its peers, and the targets of their comparison. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  /** The workload in the words of an API. */
  workload(words: Words): Workload;
  /** Our service first. Each server is a process of its own; they take turns, so that a busy machine slows all of them. */
  readonly contestants: readonly [Contestant, ...Contestant[]];
  readonly goals: readonly Goal<Measure>[];
  /** Numbers of connections; goals that name none are judged at the first. */
  readonly connections: readonly [number, ...number[]];
}

/** A server program. It listens on 127.0.0.1 at PORT, uses the database at DATABASE_URL and ends at SIGTERM. */
export interface Contestant {
  readonly name: string;
  /** The module that Node starts. */
  readonly main: URL;
  readonly words: Words;
  readonly nodeOptions?: readonly string[];
  readonly takesKey?: boolean;
  /** Whether it counts requests in the Redis at REDIS_URL. */
  readonly countsInRedis?: boolean;
}
