import { randomUUID } from "node:crypto";
import { Pool } from "undici";
import type { LoadOrder, LoadReport } from "../load-generator.js";
import { percentile } from "../statistics.js";
import type { WorkRequest } from "../words.js";
import { createDraw } from "./draw.js";
import { isSuccess, sendRequest } from "./send-request.js";

/**
 * Sends a drawn request on every connection, and the next one after its response, until the time is over, enough are
 * sent, or a request fails. Each connection is opened, and has one response, before the time begins: Node accepts one
 * connection in each turn of its event loop, which takes seconds for very many.
 */
export async function makeLoad({
  origin,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  ...work
}: LoadOrder): Promise<LoadReport> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const draw = createDraw(work, { fraction: Math.random, unique: randomUUID });
  const durationsMs: number[] = [];
  let asked = 0;
  let failure: string | undefined;

  async function askOnce(): Promise<number> {
    asked++;
    const sentAtMs = performance.now();
    const refusal = await ask(pool, draw());
    failure ??= refusal;
    return performance.now() - sentAtMs;
  }

  async function callOn(endAtMs: number): Promise<void> {
    while (failure === undefined && performance.now() < endAtMs && asked < requests) {
      durationsMs.push(await askOnce());
    }
  }

  const onEach = (what: () => Promise<unknown>) => Promise.all(Array.from({ length: connections }, what));
  let startedAtMs = performance.now();
  try {
    await onEach(askOnce);
    startedAtMs = performance.now();
    await onEach(() => callOn(startedAtMs + seconds * 1000));
  } catch (error) {
    failure ??= `${error}`;
  }
  const endedAtMs = performance.now();
  await pool.destroy();
  return {
    requests: asked,
    requestsPerSecond: durationsMs.length / ((endedAtMs - startedAtMs) / 1000),
    p50Ms: percentile(durationsMs, 50),
    p99Ms: percentile(durationsMs, 99),
    ...(failure !== undefined && { failure }),
  };
}

/** Resolves with what was said instead of 2xx, if it was. */
async function ask(pool: Pool, request: WorkRequest): Promise<string | undefined> {
  const { status, refusal } = await sendRequest(pool, request);
  return isSuccess(status) ? undefined : `status ${status} ${refusal}`.trim().slice(0, 200);
}
