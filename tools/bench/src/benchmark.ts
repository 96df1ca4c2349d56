import type { Goal } from "./goal.js";
import type { Measure } from "./round.js";

/** One piece of work, done by several servers in turn, and what their comparison must show. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  /** At least one. Each is a process of its own; they take turns, so that a busy machine is busy for all of them. */
  readonly contestants: readonly [Contestant, ...Contestant[]];
  /** Whether an answer, parsed from JSON, is what the work asks for. The contestants' answers must also be equal. */
  isRight(answer: unknown): boolean;
  readonly goals: readonly Goal<Measure>[];
}

/** A server program. It listens on 127.0.0.1 at PORT, works on the database at DATABASE_URL and ends at SIGTERM. */
export interface Contestant {
  readonly name: string;
  /** The module that Node starts. */
  readonly main: URL;
  /** What is asked of it, over and over. The key is valid, with a quota that no load can use up. */
  request(apiKey: string): WorkRequest;
}

interface WorkRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}
