import type { Goal } from "./goal.js";
import type { Measure } from "./round.js";

/** One piece of work, done by several servers in turn, and what their comparison must show. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  readonly work: Work;
  /** Ours, and its peers. Each is a process of its own; they take turns, so that a busy machine is busy for all of them. */
  readonly contestants: readonly [Contestant, ...Contestant[]];
  readonly goals: readonly Goal<Measure>[];
  /** How many at once, where it is not the usual number; the first is where goals are judged. */
  readonly connections?: readonly [number, ...number[]];
}

/** What is asked of every contestant, over and over. */
export interface Work {
  /** The key, where one is taken, is valid, with a quota that no load can use up. */
  request(apiKey?: string): WorkRequest;
  /** Where not all ask the same: what the second asks, the third, and so on, the first again behind the last. */
  readonly others?: readonly Work[];
  /** What was asked for, out of an answer parsed from JSON; it must be the same of every contestant. Throws otherwise. */
  resultOf(answer: unknown): unknown;
}

export interface WorkRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server program. It listens on 127.0.0.1 at PORT, works on the database at DATABASE_URL and ends at SIGTERM. */
export interface Contestant {
  readonly name: string;
  /** The module that Node starts. */
  readonly main: URL;
  readonly nodeOptions?: readonly string[];
  readonly takesKey?: boolean;
  /** Whether it counts requests in the Redis at REDIS_URL. */
  readonly countsInRedis?: boolean;
  /** The same work in the words of a server whose schema is not ours to choose. */
  readonly work?: Work;
}
