import { type Dispatcher, Pool } from "undici";
import type { LoadOrder, LoadReport } from "../load-generator.js";
import { percentile } from "../statistics.js";

/**
 * Asks the same on every connection, again as soon as it is answered, until the time is over, enough are asked, or an
 * answer fails. Each connection is made, and answered once, before the time begins: Node accepts one in a turn of its
 * event loop, so that of very many the last would be measured waiting for that, which can take seconds.
 */
export async function makeLoad({
  origin,
  connections,
  seconds,
  requests = Number.POSITIVE_INFINITY,
  ...request
}: LoadOrder): Promise<LoadReport> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const durationsMs: number[] = [];
  let asked = 0;
  let failure: string | undefined;

  async function askOnce(): Promise<number> {
    asked++;
    const sentAtMs = performance.now();
    const refusal = await ask(pool, request);
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

/**
 * Resolves with what was said instead of 2xx, if it was. undici's lowest level, a quarter cheaper than its `request`: the
 * generator shares the machine with the server.
 */
function ask(pool: Pool, request: Dispatcher.DispatchOptions): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let refusal: string | undefined;
    pool.dispatch(request, {
      // Its presence tells undici which of its two kinds of handler this is.
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        if (statusCode < 200 || statusCode > 299) refusal = `status ${statusCode} `;
      },
      onResponseData(_controller, chunk) {
        if (refusal !== undefined) refusal += chunk.toString();
      },
      onResponseEnd: () => resolve(refusal?.trim().slice(0, 200)),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
