import { openChild } from "./child.js";
import type { WorkRequest } from "./words.js";

/** Each request is drawn at random: a part by its share, one of the part's requests, and a key. */
export interface LoadWork {
  readonly parts: readonly LoadPart[];
  /** Without keys, the requests are sent as they are. */
  readonly apiKeys: readonly string[];
}

export interface LoadPart {
  /** Relative to the shares of the other parts. */
  readonly share: number;
  readonly requests: readonly WorkRequest[];
}

export interface LoadOrder extends LoadWork {
  readonly origin: string;
  /** Kept alive, each with one request at a time. */
  readonly connections: number;
  readonly seconds: number;
  /** Ends the load sooner, once so many are answered. */
  readonly requests?: number;
}

export interface LoadReport {
  /** All that were sent, the first of each connection with them; without a failure, all were answered. */
  readonly requests: number;
  /** As the durations, without the first of each connection. */
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first answer that was not 2xx, or what kept one from coming. The load ended with it. */
  readonly failure?: string;
}

/** Makes load from a process of its own, whose work is not counted against any server. */
export interface LoadGenerator extends AsyncDisposable {
  run(order: LoadOrder): Promise<LoadReport>;
}

export function openLoadGenerator(signal: AbortSignal): LoadGenerator {
  const child = openChild("the load generator", new URL("./load/main.js", import.meta.url), { signal });
  return {
    run: async (order) => (await child.ask(order)) as LoadReport,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
