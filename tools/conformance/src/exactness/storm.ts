import type { Answer } from "@petstore/harness/response-check";
import { Pool } from "undici";

/** A request of the storm: which API, and what one unit costs to ask there. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly body?: string;
}

export interface StormOptions {
  readonly targets: readonly Target[];
  readonly apiKey: string;
  readonly requests: number;
  /** Under way at once, over all targets. */
  readonly concurrency: number;
  /** Told of every answer. */
  hear?(target: Target, answer: Answer): void;
}

/** How often each answer was given, under its contract status: GraphQL's 200 with errors counts as what they say. */
export interface StormCount {
  readonly byAnswer: ReadonlyMap<string, number>;
  /** Which windows the answers spoke of, by their X-RateLimit-Reset. */
  readonly resets: ReadonlySet<string>;
  readonly seconds: number;
}

/** Sends the requests as fast as they are answered, each to the next target in turn. */
export async function storm({ targets, apiKey, requests, concurrency, hear }: StormOptions): Promise<StormCount> {
  const pools = targets.map(({ origin }) => new Pool(origin, { connections: Math.ceil(concurrency / targets.length) }));
  const byAnswer = new Map<string, number>();
  const resets = new Set<string>();
  let sent = 0;

  async function callOn(): Promise<void> {
    while (sent < requests) {
      const turn = sent++ % targets.length;
      const [target, pool] = [targets[turn], pools[turn]];
      if (target === undefined || pool === undefined) throw new Error("the storm has no target");
      const { statusCode, headers, body } = await pool.request({
        path: target.path,
        method: target.method,
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        ...(target.body !== undefined && { body: target.body }),
      });
      const said = await body.text();
      hear?.(target, { status: statusCode, headers: written(headers), text: said });
      const answer = answerOf(statusCode, said);
      byAnswer.set(answer, (byAnswer.get(answer) ?? 0) + 1);
      resets.add(String(headers["x-ratelimit-reset"]));
    }
  }

  const startMs = performance.now();
  try {
    await Promise.all(Array.from({ length: concurrency }, callOn));
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
  return { byAnswer, resets, seconds: (performance.now() - startMs) / 1_000 };
}

function written(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function answerOf(status: number, text: string): string {
  if (status === 200 && !text.includes('"errors"')) return "200";
  return /"code":"(\w+)"/.exec(text)?.[1] ?? `${status}`;
}
