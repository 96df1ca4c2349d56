import { createProfiler } from "../profiler.js";
import { percentile } from "../statistics.js";
import type { QuotaLoad, QuotaOrder } from "./quota-engine.js";

/** Spends one unit of an account, and rejects unless it was admitted. */
export type Decide = (account: string, key: string) => Promise<void>;

type LoadOrder = Extract<QuotaOrder, { readonly kind: "load" }>;

export interface ServeOptions {
  /** Every how many decisions one is timed: what takes less than a microsecond would cost as much again to time. */
  readonly timedEvery?: number;
}

/** No load uses it up: what is measured is the counting, not the refusing. */
export const limit = 2_147_483_647;

/** Does what the benchmark orders, until the benchmark is gone. */
export function serveOrders(decide: Decide, { timedEvery = 1 }: ServeOptions = {}): void {
  const profiler = createProfiler();
  let turn = 0;

  process.on("message", (order: QuotaOrder) => {
    answer(order).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: `${error instanceof Error ? error : JSON.stringify(error)}` }),
    );
  });
  process.once("disconnect", () => process.exit());

  async function answer(order: QuotaOrder): Promise<object> {
    switch (order.kind) {
      case "load":
        return makeLoad(order);
      case "visit":
        // A few at a time, as they would come.
        for (let first = 0; first < order.accounts; first += 100) {
          const count = Math.min(100, order.accounts - first);
          await Promise.all(Array.from({ length: count }, (_, number) => decideFor(first + number)));
        }
        return {};
      case "start-profile":
        await profiler.start();
        return {};
      case "write-profile":
        await profiler.write(order.file);
        return {};
    }
  }

  function decideFor(account: number): Promise<void> {
    return decide(`${1 + account}`, `${1 + account}`);
  }

  /** Every caller asks again as soon as it has its answer, for the account whose turn it is. */
  async function makeLoad({ callers, seconds, accounts }: LoadOrder): Promise<QuotaLoad> {
    const durationsMs: number[] = [];
    let decisions = 0;
    const cpuBefore = process.cpuUsage();
    const startedAtMs = performance.now();
    const endAtMs = startedAtMs + seconds * 1000;

    async function callOn(): Promise<void> {
      for (;;) {
        const startMs = performance.now();
        if (startMs >= endAtMs) return;
        await decideNext();
        durationsMs.push(performance.now() - startMs);
        for (let untimed = 1; untimed < timedEvery; untimed++) await decideNext();
      }
    }

    function decideNext(): Promise<void> {
      turn = (turn + 1) % accounts;
      decisions++;
      return decideFor(turn);
    }

    await Promise.all(Array.from({ length: callers }, callOn));
    const endedAtMs = performance.now();
    const { user, system } = process.cpuUsage(cpuBefore);
    return {
      decisions,
      seconds: (endedAtMs - startedAtMs) / 1000,
      p50Ms: percentile(durationsMs, 50),
      p99Ms: percentile(durationsMs, 99),
      cpuMicroseconds: user + system,
    };
  }
}
