import { createLruCache } from "../lru-cache.js";
import { Problem } from "../problem.js";

/**
 * Limits the look-ups of unknown keys. A client has a budget of 10, which regains 5 per second. All clients together have a
 * budget of 200, which regains 50 per second, because one client can have many addresses. Only a look-up that finds nothing
 * is charged, so any number of valid keys can share an address. A valid key is refused only if it has no cached record and
 * its client, or all clients together, have sent too many unknown keys.
 */
export interface UnknownKeyLimiter {
  /** Runs the look-up as soon as the budgets allow it. Rejects with SERVICE_UNAVAILABLE if one of them is used up. */
  run<Found>(client: string, lookUp: () => Promise<Found | undefined>): Promise<Found | undefined>;
  refusals(): number;
}

interface BudgetSize {
  readonly burst: number;
  readonly perSecond: number;
}

const perClient: BudgetSize = { burst: 10, perSecond: 5 };
/** Four seconds of look-ups at once, which also bounds the look-ups in flight after a start with an empty cache. */
const ofAllClients: BudgetSize = { burst: 200, perSecond: 50 };
/**
 * Clients remembered at once, about 770 bytes each. A forgotten client begins with a full budget again. After 2 s without a
 * look-up it has one anyway, and in this time all clients together have at most 300 look-ups.
 */
const maxClients = 10_000;

export function createUnknownKeyLimiter(monotonicNow: () => number): UnknownKeyLimiter {
  const clients = createLruCache<Budget>(maxClients);
  let refusals = 0;

  function refusing(message: string): () => Problem {
    return () => {
      refusals += 1;
      return new Problem("SERVICE_UNAVAILABLE", message, { retryAfterSeconds: 1 });
    };
  }

  const refuseClient = refusing("Too many unknown API keys come from this address; try again shortly.");
  const refuseAll = refusing("Too many unknown API keys are being sent; try again shortly.");
  const all = createBudget(ofAllClients, monotonicNow, refuseAll);

  return {
    async run(client, lookUp) {
      const budget = clients.get(client) ?? createBudget(perClient, monotonicNow, refuseClient);
      clients.set(client, budget);
      try {
        return await budget.run(() => all.run(lookUp));
      } finally {
        if (budget.isFull()) clients.delete(client);
      }
    },
    refusals: () => refusals,
  };
}

interface Budget {
  /** Runs the look-up when the budget allows it, and charges it if it finds nothing. */
  run<Found>(lookUp: () => Promise<Found | undefined>): Promise<Found | undefined>;
  /** True if nothing is charged and nothing is in flight. */
  isFull(): boolean;
}

function createBudget({ burst, perSecond }: BudgetSize, monotonicNow: () => number, refuse: () => Problem): Budget {
  const waiting: { readonly start: () => void; readonly fail: (error: unknown) => void }[] = [];
  let left = burst;
  let updatedAtMs = monotonicNow();
  let inFlight = 0;

  function refill(): void {
    const nowMs = monotonicNow();
    left = Math.min(burst, left + (Math.max(0, nowMs - updatedAtMs) * perSecond) / 1_000);
    updatedAtMs = nowMs;
  }

  function startWaiting(): void {
    // Every look-up in flight may be charged.
    const free = Math.floor(left - inFlight);
    for (const { start } of waiting.splice(0, Math.max(0, free))) {
      inFlight += 1;
      start();
    }
    if (left < 1) failWaiting(refuse);
  }

  function failWaiting(errorOf: () => unknown): void {
    for (const { fail } of waiting.splice(0)) fail(errorOf());
  }

  return {
    async run(lookUp) {
      refill();
      await new Promise<void>((start, fail) => {
        waiting.push({ start, fail });
        startWaiting();
      });
      try {
        const found = await lookUp();
        if (found === undefined) left -= 1;
        return found;
      } catch (error) {
        // Otherwise the waiting look-ups would fail one after the other, each after its own timeout.
        failWaiting(() => error);
        throw error;
      } finally {
        inFlight -= 1;
        startWaiting();
      }
    },
    isFull: () => left === burst && inFlight === 0,
  };
}
