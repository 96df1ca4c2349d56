import { createLruCache } from "../lru-cache.js";
import { Problem } from "../problem.js";

/**
 * Limits the look-ups of unknown keys. A client has a budget of 10, which regains 5 per second. Only a look-up that finds
 * nothing is charged, so any number of valid keys can share an address. A valid key is refused only if it has no cached
 * record and its address has sent too many unknown keys.
 */
export interface UnknownKeyLimiter {
  /** Runs the look-up as soon as the budget allows it. Rejects with SERVICE_UNAVAILABLE if the budget is used up. */
  run<Found>(client: string, lookUp: () => Promise<Found | undefined>): Promise<Found | undefined>;
  refusals(): number;
}

const burst = 10;
const refillPerMs = 5 / 1_000;
/** Clients remembered at once, about 340 bytes each. A forgotten client begins with a full budget again. */
const maxClients = 50_000;

interface Budget {
  left: number;
  updatedAtMs: number;
  inFlight: number;
  readonly waiting: { readonly start: () => void; readonly fail: (error: unknown) => void }[];
}

export function createUnknownKeyLimiter(monotonicNow: () => number): UnknownKeyLimiter {
  const budgets = createLruCache<Budget>(maxClients);
  let refusals = 0;

  function budgetOf(client: string): Budget {
    const nowMs = monotonicNow();
    const budget = budgets.get(client) ?? { left: burst, updatedAtMs: nowMs, inFlight: 0, waiting: [] };
    budget.left = Math.min(burst, budget.left + Math.max(0, nowMs - budget.updatedAtMs) * refillPerMs);
    budget.updatedAtMs = nowMs;
    budgets.set(client, budget);
    return budget;
  }

  function refuse(): Problem {
    refusals += 1;
    return new Problem("SERVICE_UNAVAILABLE", "Too many unknown API keys come from this address; try again shortly.", {
      retryAfterSeconds: 1,
    });
  }

  function startWaiting(budget: Budget): void {
    // Every look-up in flight may be charged.
    const free = Math.floor(budget.left - budget.inFlight);
    for (const { start } of budget.waiting.splice(0, free)) {
      budget.inFlight += 1;
      start();
    }
    if (budget.left < 1) for (const { fail } of budget.waiting.splice(0)) fail(refuse());
  }

  return {
    async run(client, lookUp) {
      const budget = budgetOf(client);
      await new Promise<void>((start, fail) => {
        budget.waiting.push({ start, fail });
        startWaiting(budget);
      });
      try {
        const found = await lookUp();
        if (found === undefined) budget.left -= 1;
        return found;
      } catch (error) {
        // Otherwise the waiting look-ups would fail one after the other, each after its own timeout.
        for (const { fail } of budget.waiting.splice(0)) fail(error);
        throw error;
      } finally {
        budget.inFlight -= 1;
        startWaiting(budget);
        if (budget.left === burst && budget.inFlight === 0) budgets.delete(client);
      }
    },
    refusals: () => refusals,
  };
}
