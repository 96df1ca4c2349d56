import { Pool } from "undici";
import type { WorkRequest } from "../benchmark.js";
import type { LoadOrder, LoadReport } from "../load-generator.js";
import { percentile } from "../statistics.js";
import { isSuccess, sendRequest } from "./send-request.js";

/**
 * Asks on every connection the same, again as soon as it is answered, until the time is over, enough are asked, or an
 * answer fails. Each connection is made, and answered once, before the time begins: Node accepts one in a turn of its
 * event loop, so that of very many the last would be measured waiting for that, which can take seconds.
 */
export async function makeLoad({
  origin,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  others = [],
  ...request
}: LoadOrder): Promise<LoadReport> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const work = [request, ...others];
  const durationsMs: number[] = [];
  let asked = 0;
  let failure: string | undefined;

  async function askOnce(caller: number): Promise<number> {
    asked++;
    const sentAtMs = performance.now();
    const refusal = await ask(pool, work[caller % work.length] ?? request);
    failure ??= refusal;
    return performance.now() - sentAtMs;
  }

  async function callOn(caller: number, endAtMs: number): Promise<void> {
    while (failure === undefined && performance.now() < endAtMs && asked < requests) {
      durationsMs.push(await askOnce(caller));
    }
  }

  const ofEach = (what: (caller: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: connections }, (_, caller) => what(caller)));
  let startedAtMs = performance.now();
  try {
    await ofEach(askOnce);
    startedAtMs = performance.now();
    await ofEach((caller) => callOn(caller, startedAtMs + seconds * 1000));
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
