import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { isLeak } from "./leak.js";

export interface TrafficOptions {
  readonly origins: readonly string[];
  readonly apiKey: string;
  /** Each with one request at a time, evenly over the origins. */
  readonly callers: number;
  /** Between an answer and the caller's next request. */
  readonly pauseMs: number;
  /** Ends by itself after so many; by default when it is stopped. */
  readonly requests?: number;
}

/** Instants are epoch milliseconds of this process. */
export interface Timed {
  readonly sentAtMs: number;
  readonly durationMs: number;
}

/** One request and what became of it. */
export interface Exchange extends Timed {
  /** 0 when there was no answer. */
  readonly status: number;
  /** What kept it from being served, where that was our fault. */
  readonly failure: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly leaks: boolean;
  /** The name of an animal whose creation was acknowledged; only one request ever asked for it. */
  readonly created: string | undefined;
}

interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
}

export interface Traffic {
  /** What has been answered so far. */
  readonly exchanges: readonly Exchange[];
  /** Answers of `/livez` meanwhile. */
  readonly pings: readonly Timed[];
  /** Resolves when the last request is answered. */
  stop(): Promise<void>;
  /** Resolves when all requests are answered, where a number was given. */
  readonly done: Promise<void>;
}

export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Four requests of five list animals, the fifth creates one, with an idempotency key. */
export function startTraffic(options: TrafficOptions): Traffic {
  const { origins, apiKey, callers, pauseMs, requests = Number.POSITIVE_INFINITY } = options;
  const share = Math.ceil(callers / origins.length);
  const pools = origins.map((origin) => new Pool(origin, { connections: share }));
  const idle = origins.map((origin) => new Pool(origin, { connections: 1 }));
  const exchanges: Exchange[] = [];
  const pings: Timed[] = [];
  let sent = 0;
  let isStopped = false;
  let isOver = false;

  async function callOn(caller: number): Promise<void> {
    const target = pools[caller % pools.length];
    if (target === undefined) return;
    // Not all at the same instant.
    await sleep(Math.random() * pauseMs);
    while (!isStopped && sent < requests) {
      sent += 1;
      exchanges.push(await call(target, apiKey, sent % 5 === 0));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  async function pingOn(pool: Pool): Promise<void> {
    while (!isOver) {
      const sentAtMs = nowMs();
      await pool.request({ method: "GET", path: "/livez" }).then(({ body }) => body.dump());
      pings.push({ sentAtMs, durationMs: nowMs() - sentAtMs });
      await sleep(10);
    }
  }

  const pinging = Promise.all(idle.map(pingOn));
  const done = Promise.all(Array.from({ length: callers }, (_, caller) => callOn(caller))).then(async () => {
    isOver = true;
    await pinging;
    await Promise.all([...pools, ...idle].map((pool) => pool.close()));
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

async function call(pool: Pool, apiKey: string, creates: boolean): Promise<Exchange> {
  const id = randomUUID();
  const name = `Animal ${id}`;
  const authorization = `Bearer ${apiKey}`;
  const sentAtMs = nowMs();
  try {
    const { statusCode, headers, body } = await (creates
      ? pool.request({
          method: "POST",
          path: "/v1/pets",
          headers: { authorization, "content-type": "application/json", "idempotency-key": id },
          body: JSON.stringify({ name, categoryId: 1 }),
        })
      : pool.request({ method: "GET", path: "/v1/pets?limit=2", headers: { authorization } }));
    const text = await body.text();
    return {
      sentAtMs,
      durationMs: nowMs() - sentAtMs,
      status: statusCode,
      failure: statusCode >= 500 ? `${statusCode} ${/"code":"(\w+)"/.exec(text)?.[1]}` : undefined,
      rateLimit: rateLimitOf(headers),
      leaks: isLeak(text),
      created: statusCode === 201 ? name : undefined,
    };
  } catch (error) {
    const durationMs = nowMs() - sentAtMs;
    const failure = `no answer: ${error}`;
    return { sentAtMs, durationMs, status: 0, failure, rateLimit: undefined, leaks: false, created: undefined };
  }
}

function rateLimitOf(headers: Readonly<Record<string, string | string[] | undefined>>): RateLimit | undefined {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => {
    const value = headers[`x-ratelimit-${name}`];
    return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}
