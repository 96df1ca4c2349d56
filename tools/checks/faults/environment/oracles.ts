import { isLeak } from "@petstore/harness/responses";
import type { StoreDatabase } from "@petstore/test-store/store-database";
import { count, groupBy, hasRateLimit, isFailure, type Result } from "./results.js";

export type Oracles = Awaited<ReturnType<typeof countOracles>>;

export interface Evidence {
  /** The results of each account. */
  readonly loads: readonly (readonly Result[])[];
  /** The log lines of each program. */
  readonly outputs: readonly (readonly string[])[];
  /** When a fault began or ended. */
  readonly faultTimes: readonly number[];
}

const hangMs = 5_000;

/** Run after every test. Every count must be 0. */
export async function countOracles(
  { loads, outputs, faultTimes }: Evidence,
  database: Pick<StoreDatabase, "countByName">,
) {
  const results = loads.flat();
  const acknowledged = results.flatMap(({ acknowledgedPet }) => acknowledgedPet ?? []);
  // Includes refused and lost creates: a retry must not create a second pet after them.
  const requested = new Set(results.flatMap(({ requestedPet }) => requestedPet ?? []));
  const stored = await database.countByName([...requested]);
  return {
    "acknowledged creates without a pet": count(acknowledged, (name) => !stored.has(name)),
    "second pets of one idempotency key": [...stored.values()].reduce((sum, pets) => sum + pets - 1, 0),
    "units above a limit": loads.reduce((sum, load) => sum + unitsAboveLimit(load, faultTimes), 0),
    "responses without X-RateLimit headers": count(results, (one) => one.status !== 0 && !hasRateLimit(one)),
    "requests over 5 s": count(results, ({ durationMs }) => durationMs > hangMs),
    "responses and log lines that leak": count(results, ({ leaks }) => leaks) + count(outputs.flat(), isLeak),
    "failed requests": count(results, isFailure),
  };
}

/** In each minute or day of the account, by the headers of the responses. A fault allows 105 % of the limit. */
function unitsAboveLimit(results: readonly Result[], faultTimes: readonly number[]): number {
  const windows = groupBy(results.filter(hasRateLimit), ({ rateLimit }) => rateLimit.reset * 1_000);
  let units = 0;
  for (const [resetAtMs, window] of windows) {
    const granted = count(window, ({ status }) => status >= 200 && status < 300);
    const limit = window[0]?.rateLimit.limit ?? 0;
    // A fault began or ended in the last minute of the window.
    const hasFault = faultTimes.some((atMs) => atMs >= resetAtMs - 60_000 && atMs < resetAtMs);
    units += Math.max(0, granted - Math.floor(limit * (hasFault ? 1.05 : 1)));
  }
  return units;
}
