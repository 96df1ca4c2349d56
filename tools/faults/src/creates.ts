import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Api } from "./api.js";
import { ask } from "./ask.js";
import type { Exchange } from "./exchange.js";
import type { Traffic } from "./traffic.js";

export interface CreatesOptions {
  readonly apiKey: string;
  readonly callers: number;
  /** Where the next request of a caller goes; `undefined` while there is nowhere. */
  target(caller: number): Target | undefined;
}

interface Target {
  readonly origin: string;
  readonly api: Api;
}

/** Creates without a pause, each one repeated with its idempotency key, wherever there is a service, until it succeeds. */
export interface Creates extends Traffic {
  /** Requests of which that service owes the answer at this moment. */
  inFlight(origin: string): number;
  /** Answers to a repetition. */
  readonly retried: readonly Exchange[];
  /** Creates that were given up; nobody can say what became of them. */
  givenUp(): number;
}

const retryPauseMs = 20;
const timeoutMs = 20_000;

export function startCreates({ apiKey, callers, target }: CreatesOptions): Creates {
  const pools = new Map<string, Pool>();
  const owed = new Map<string, number>();
  const exchanges: Exchange[] = [];
  const retried: Exchange[] = [];
  let isStopped = false;
  let givenUp = 0;

  function poolOf(origin: string): Pool {
    const pool = pools.get(origin) ?? new Pool(origin, { connections: callers });
    pools.set(origin, pool);
    return pool;
  }

  async function attempt({ origin, api }: Target, id: string): Promise<Exchange> {
    const name = `Pet ${id}`;
    owed.set(origin, (owed.get(origin) ?? 0) + 1);
    const { text, ...exchange } = await ask(poolOf(origin), api.create(name, id), apiKey);
    owed.set(origin, (owed.get(origin) ?? 0) - 1);
    return { ...exchange, asked: name, created: api.isCreated(exchange.status, text) ? name : undefined };
  }

  async function createOne(caller: number): Promise<void> {
    const id = randomUUID();
    const startMs = performance.now();
    for (let attempts = 0; performance.now() - startMs < timeoutMs; ) {
      const where = target(caller);
      if (where !== undefined) {
        const exchange = await attempt(where, id);
        exchanges.push(exchange);
        if (attempts > 0) retried.push(exchange);
        if (exchange.created !== undefined) return;
        attempts += 1;
      }
      await sleep(retryPauseMs);
    }
    givenUp += 1;
  }

  async function callOn(caller: number): Promise<void> {
    while (!isStopped) await createOne(caller);
  }

  const done = Promise.all(Array.from({ length: callers }, (_, caller) => callOn(caller))).then(async () => {
    await Promise.all([...pools.values()].map((pool) => pool.destroy()));
  });
  return {
    exchanges,
    retried,
    pings: [],
    done,
    inFlight: (origin) => owed.get(origin) ?? 0,
    givenUp: () => givenUp,
    stop() {
      isStopped = true;
      return done;
    },
  };
}
