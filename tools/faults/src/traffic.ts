import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { type Api, type Call, restRouter } from "./api.js";
import { type Answer, noAnswer, nowMs } from "./ask.js";
import type { Exchange, Timed } from "./exchange.js";
import { openPipeline, type Pipeline } from "./pipeline.js";
import { authorization, requestOf } from "./wire-requests.js";

export interface TrafficOptions {
  readonly origins: readonly string[];
  /** A server that does nothing, which is asked meanwhile how slow the machine is. */
  readonly idleOrigin: string;
  readonly apiKey: string;
  /** Each with one request at a time, evenly over the origins. */
  readonly callers: number;
  /** Between an answer and the caller's next request. */
  readonly pauseMs: number;
  /** Called in turn by the callers; the REST API unless others are named. */
  readonly apis?: readonly Api[];
  /** Ends by itself after so many; by default when it is stopped. */
  readonly requests?: number;
}

export interface Traffic {
  /** What has been answered so far. */
  readonly exchanges: readonly Exchange[];
  /** Answers of the server that does nothing, meanwhile. */
  readonly pings: readonly Timed[];
  /** Resolves when the last request is answered. */
  stop(): Promise<void>;
  /** Resolves when all requests are answered, where a number was given. */
  readonly done: Promise<void>;
}

/** Four requests of five list pets, the fifth creates one, with an idempotency key. */
export function startTraffic(options: TrafficOptions): Traffic {
  const {
    origins,
    idleOrigin,
    apiKey,
    callers,
    pauseMs,
    apis = [restRouter],
    requests = Number.POSITIVE_INFINITY,
  } = options;
  const idle = new Pool(idleOrigin, { connections: 1 });
  const exchanges: Exchange[] = [];
  const pings: Timed[] = [];
  let sent = 0;
  let isStopped = false;
  let isOver = false;

  async function callOn(caller: number): Promise<void> {
    const origin = origins[caller % origins.length];
    const api = apis[caller % apis.length];
    if (origin === undefined || api === undefined) return;
    using pipeline = openPipeline(origin);
    // Not all at the same instant.
    await sleep(Math.random() * pauseMs);
    while (!isStopped && sent < requests) {
      sent += 1;
      exchanges.push(await (sent % 5 === 0 ? create(pipeline, api, apiKey) : list(pipeline, api, apiKey)));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  async function ping(): Promise<void> {
    while (!isOver) {
      const sentAtMs = nowMs();
      await idle.request({ method: "GET", path: "/" }).then(({ body }) => body.dump());
      pings.push({ sentAtMs, durationMs: nowMs() - sentAtMs });
      await sleep(10);
    }
  }

  const pinging = ping();
  const done = Promise.all(Array.from({ length: callers }, (_, caller) => callOn(caller))).then(async () => {
    isOver = true;
    await pinging;
    await idle.close();
  });
  return {
    exchanges,
    pings,
    done,
    stop() {
      isStopped = true;
      return done;
    },
  };
}

async function list(pipeline: Pipeline, api: Api, apiKey: string): Promise<Exchange> {
  const { text: _, ...exchange } = await askOne(pipeline, api.list, apiKey);
  return exchange;
}

/** Of a name that only this request asks for. */
async function create(pipeline: Pipeline, api: Api, apiKey: string): Promise<Exchange> {
  const id = randomUUID();
  const name = `Pet ${id}`;
  const { text, ...exchange } = await askOne(pipeline, api.create(name, id), apiKey);
  return { ...exchange, asked: name, created: api.isCreated(exchange.status, text) ? name : undefined };
}

async function askOne(pipeline: Pipeline, call: Call, apiKey: string): Promise<Answer> {
  const [answer] = await pipeline.ask([requestOf(call, authorization(apiKey))]);
  return answer ?? noAnswer(nowMs(), "none");
}
