import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { type Dispatcher, Pool } from "undici";
import { sendRequest } from "../../load/send-request.js";
import type { Step, TrafficOrder, TrafficReport } from "../traffic-generator.js";

/** Asks one step after the other on every connection, each beginning at another one, until the time is over. */
export async function makeTraffic(order: TrafficOrder): Promise<TrafficReport> {
  const { origin, connections, seconds, requests = Number.POSITIVE_INFINITY, firstNumber, steps } = order;
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const endAtMs = performance.now() + seconds * 1_000;
  const unexpected = new Map<string, number>();
  let number = firstNumber;

  async function callOn(first: number): Promise<void> {
    const isOver = () => number - firstNumber >= requests || performance.now() >= endAtMs;
    for (let next = first; !isOver(); next++) {
      const step = steps[next % steps.length];
      if (step === undefined) return;
      const status = await sendRequest(pool, requestOf(step, number++)).then((answer) => answer.status, String);
      if (typeof status === "number" && step.statuses.includes(status)) continue;
      const what = `${step.name}: ${status}`;
      unexpected.set(what, (unexpected.get(what) ?? 0) + 1);
    }
  }

  await Promise.all(Array.from({ length: connections }, (_, index) => callOn(index)));
  await pool.destroy();
  return { requests: number - firstNumber, unexpected: Object.fromEntries(unexpected) };
}

/** What changes with every request is written in as the request is made. */
function requestOf({ request, unknownKey = false }: Step, number: number): Dispatcher.DispatchOptions {
  const { method, path, headers, body } = request;
  const authorization = unknownKey ? { authorization: `Bearer ${mintApiKey("test", randomBytes)}` } : {};
  return {
    method,
    path,
    headers: { ...headers, ...authorization },
    ...(body !== undefined && { body: body.replaceAll("{number}", `${number}`) }),
  };
}
