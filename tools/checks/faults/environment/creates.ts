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

/** Creates without a pause. Each one is repeated with its idempotency key until it succeeds. */
export interface Creates extends Load {
  /** Requests that this service has not answered yet. */
  inFlight(origin: string): number;
  /** Answers to repeated requests. */
  readonly retried: readonly Result[];
  /** The number of creates that never succeeded. */
  abandoned(): number;
}

const retryPauseMs = 20;
const timeoutMs = 20_000;

export function startCreates({ apiKey, clients, target }: CreatesOptions): Creates {
  const waiting = new Map<string, number>();
  const results: Result[] = [];
  const retried: Result[] = [];
  let isStopped = false;
  let abandoned = 0;

  async function attempt({ origin, api }: Target, pipeline: Pipeline, id: string): Promise<Result> {
    waiting.set(origin, (waiting.get(origin) ?? 0) + 1);
    const result = await createPet(pipeline, api, apiKey, id);
    waiting.set(origin, (waiting.get(origin) ?? 0) - 1);
    return result;
  }

  async function createOne(client: number, pipelines: Map<string, Pipeline>): Promise<void> {
    const id = randomUUID();
    const startMs = performance.now();
    let isRetry = false;
    while (performance.now() - startMs < timeoutMs) {
      const current = target(client);
      if (current !== undefined) {
        const pipeline = pipelines.get(current.origin) ?? openPipeline(current.origin);
        pipelines.set(current.origin, pipeline);
        const result = await attempt(current, pipeline, id);
        results.push(result);
        if (isRetry) retried.push(result);
        if (isAcknowledged(result)) return;
        isRetry = true;
      }
      await sleep(retryPauseMs);
    }
    abandoned += 1;
  }

  async function runClient(client: number): Promise<void> {
    const pipelines = new Map<string, Pipeline>();
    while (!isStopped) await createOne(client, pipelines);
    for (const pipeline of pipelines.values()) pipeline[Symbol.dispose]();
  }

  const done = Promise.all(Array.from({ length: clients }, (_, client) => runClient(client))).then(() => {});
  return {
    results,
    retried,
    idleResults: [],
    done,
    inFlight: (origin) => waiting.get(origin) ?? 0,
    abandoned: () => abandoned,
    stop() {
      isStopped = true;
      return done;
    },
  };
}
