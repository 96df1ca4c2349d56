import { type Dispatcher, Pool } from "undici";
import type { LoadOrder, LoadReport } from "../load-generator.js";
import { percentile } from "../statistics.js";

/** Asks the same on every connection, again as soon as it is answered, until the time is over or an answer fails. */
export async function makeLoad({ origin, path, headers, connections, seconds }: LoadOrder): Promise<LoadReport> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const durationsMs: number[] = [];
  const startedAtMs = performance.now();
  const endAtMs = startedAtMs + seconds * 1000;
  let failure: string | undefined;

  async function callOn(): Promise<void> {
    while (failure === undefined && performance.now() < endAtMs) {
      const sentAtMs = performance.now();
      const status = await statusOf(pool, { method: "GET", path, headers });
      durationsMs.push(performance.now() - sentAtMs);
      if (status < 200 || status > 299) failure ??= `status ${status}`;
    }
  }

  try {
    await Promise.all(Array.from({ length: connections }, callOn));
  } catch (error) {
    failure ??= `${error}`;
  }
  const endedAtMs = performance.now();
  await pool.destroy();
  return {
    requests: durationsMs.length,
    seconds: (endedAtMs - startedAtMs) / 1000,
    p50Ms: percentile(durationsMs, 50),
    p99Ms: percentile(durationsMs, 99),
    ...(failure !== undefined && { failure }),
  };
}

/** undici's lowest level, a quarter cheaper than its `request`: the generator shares the machine with the server. */
function statusOf(pool: Pool, request: Dispatcher.DispatchOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    pool.dispatch(request, {
      // Its presence tells undici which of its two kinds of handler this is.
      onRequestStart() {},
      onResponseStart(_controller, statusCode) {
        status = statusCode;
      },
      onResponseData() {},
      onResponseEnd: () => resolve(status),
      onResponseError: (_controller, error) => reject(error),
    });
  });
}
