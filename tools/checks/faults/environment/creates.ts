import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createPet, type Load, type Target } from "./load.js";
import { openPipeline, type Pipeline } from "./pipeline.js";
import { isAcknowledged, type Result } from "./results.js";

export interface CreatesOptions {
  readonly apiKey: string;
  readonly clients: number;
  /** The target of the client's next request; `undefined` while no service runs. */
  target(client: number): Target | undefined;
}

/** Creates without a pause. Each one is repeated with its idempotency key until it succeeds, or fails after 20 s. */
export interface Creates extends Load {
  /** Requests that this service has not answered yet. */
  inFlight(origin: string): number;
}

const retryPauseMs = 20;
const timeoutMs = 20_000;

export function startCreates({ apiKey, clients, target }: CreatesOptions): Creates {
  const waiting = new Map<string, number>();
  const results: Result[] = [];
  let isStopped = false;

  async function attempt({ origin, api }: Target, pipeline: Pipeline, id: string): Promise<Result> {
    waiting.set(origin, (waiting.get(origin) ?? 0) + 1);
    const result = await createPet(pipeline, api, apiKey, id);
    waiting.set(origin, (waiting.get(origin) ?? 0) - 1);
    return result;
  }

  async function createOne(client: number, pipelines: Map<string, Pipeline>): Promise<void> {
    const id = randomUUID();
    const startMs = performance.now();
    while (performance.now() - startMs < timeoutMs) {
      const current = target(client);
      if (current !== undefined) {
        const pipeline = pipelines.get(current.origin) ?? openPipeline(current.origin);
        pipelines.set(current.origin, pipeline);
        const result = await attempt(current, pipeline, id);
        results.push(result);
        if (isAcknowledged(result)) return;
      }
      await sleep(retryPauseMs);
    }
    throw new Error(`a create did not succeed in ${timeoutMs / 1_000} s`);
  }

  async function runClient(client: number): Promise<void> {
    const pipelines = new Map<string, Pipeline>();
    while (!isStopped) await createOne(client, pipelines);
    for (const pipeline of pipelines.values()) pipeline[Symbol.dispose]();
  }

  const done = Promise.all(Array.from({ length: clients }, (_, client) => runClient(client))).then(() => {});
  // The failure is reported by `stop`.
  done.catch(() => {});
  return {
    results,
    idleResults: [],
    done,
    inFlight: (origin) => waiting.get(origin) ?? 0,
    stop() {
      isStopped = true;
      return done;
    },
  };
}
