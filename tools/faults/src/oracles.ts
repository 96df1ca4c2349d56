import { isLeak } from "@petstore/harness/leak";
import type { Exchange } from "./exchange.js";
import type { Program } from "./program.js";
import type { Store } from "./store.js";
import type { Traffic } from "./traffic.js";

/** Counted after every fault; every one must be 0. */
export interface Oracles {
  /** Acknowledged creates that are missing. */
  readonly lost: number;
  /** Rows above one for one idempotency key, whatever its creates were answered. */
  readonly dup: number;
  /** Units beyond the limit of a window or, where something failed or returned within it, beyond 105 % of the limit. */
  readonly over: number;
  /** Responses without the X-RateLimit triple. */
  readonly hdr: number;
  /** Requests over 5 s. */
  readonly hang: number;
  /** Responses and log lines that tell what they must not. */
  readonly leak: number;
  /** Requests answered 5xx, or not at all. */
  readonly failed: number;
}

/** What a row leaves behind. */
export interface Played {
  /** One for each account. */
  readonly loads: readonly PlayedLoad[];
  /** Services and others: the lines each has written. */
  readonly programs: readonly Pick<Program, "output">[];
  /** When something failed or returned. */
  readonly marks: readonly number[];
}

export type PlayedLoad = Pick<Traffic, "exchanges" | "stop">;

const hangMs = 5_000;
const tolerance = 1.05;

export async function countOracles({ loads, programs, marks }: Played, store: Store): Promise<Oracles> {
  const exchanges = loads.flatMap((load) => load.exchanges);
  const count = (matches: (exchange: Exchange) => boolean) => exchanges.filter(matches).length;
  const names = exchanges.flatMap(({ created }) => created ?? []);
  // Also of creates that were refused or lost: a repetition must not make a second one of what they may have made.
  const counts = await store.countByName([...new Set(exchanges.flatMap(({ asked }) => asked ?? []))]);
  return {
    lost: names.filter((name) => !counts.has(name)).length,
    dup: [...counts.values()].reduce((sum, rows) => sum + rows - 1, 0),
    over: loads.flatMap((load) => windowsOf(load.exchanges, marks)).reduce((sum, window) => sum + beyond(window), 0),
    hdr: count(({ status, rateLimit }) => status !== 0 && rateLimit === undefined),
    hang: count(({ durationMs }) => durationMs > hangMs),
    leak: count(({ leaks }) => leaks) + programs.flatMap(({ output }) => output).filter(isLeak).length,
    failed: count(({ failure }) => failure !== undefined),
  };
}

/** A minute of an account, by what its responses have said. */
export interface Window {
  readonly resetAtMs: number;
  readonly limit: number;
  readonly granted: number;
  readonly refused: number;
  /** Whether something failed or returned within it. */
  readonly isTouched: boolean;
}

export function windowsOf(exchanges: readonly Exchange[], marks: readonly number[]): Window[] {
  const byReset = new Map<number, Exchange[]>();
  for (const exchange of exchanges) {
    const { resetAtMs = 0 } = exchange.rateLimit ?? {};
    const window = byReset.get(resetAtMs);
    if (window === undefined) byReset.set(resetAtMs, [exchange]);
    else window.push(exchange);
  }
  byReset.delete(0);
  return [...byReset].map(([resetAtMs, answered]) => ({
    resetAtMs,
    limit: answered[0]?.rateLimit?.limit ?? 0,
    granted: answered.filter(({ status }) => status >= 200 && status < 300).length,
    refused: answered.filter(({ status }) => status === 429).length,
    isTouched: marks.some((atMs) => atMs >= resetAtMs - 60_000 && atMs < resetAtMs),
  }));
}

function beyond({ granted, limit, isTouched }: Window): number {
  return Math.max(0, granted - Math.floor(limit * (isTouched ? tolerance : 1)));
}
