/** Combines equal reservations into one call of the script. */
import DataLoader from "dataloader";
import type { Reservation } from "../quota.js";

/** Bounds how long one script call blocks Redis, and how many requests one failure reaches. */
const maxBatchSize = 64;

/**
 * Combines reservations, because clients that share a key send many at once (decision 0016). Reservations are equal if they have
 * the same account, key, limits and cost. All equal ones of one event loop iteration are one call, at most 64 at a time.
 *
 * `call` gets the reservation and the number of requests, and resolves with one result for each, in order. In traces, the call
 * belongs to the first request.
 */
export function batchEqual<Result>(
  call: (reservation: Reservation, times: number) => Promise<readonly Result[]>,
): (reservation: Reservation) => Promise<Result> {
  /** The reservations of this iteration, in one DataLoader for each set of equal ones. `undefined` if there are none yet. */
  let loaders: Map<string, DataLoader<Reservation, Result>> | undefined;

  return (reservation) => {
    if (loaders === undefined) {
      // A new map each time: a long-lived map keeps its deleted entries in memory until a full garbage collection.
      loaders = new Map();
      setImmediate(() => {
        loaders = undefined;
      });
    }
    const { account, key, limits, cost } = reservation;
    const name = `${account} ${key} ${limits.perMinute} ${limits.perDay} ${cost}`;
    let loader = loaders.get(name);
    if (loader === undefined) {
      const callFor = (batch: readonly Reservation[]) => call(reservation, batch.length);
      loader = new DataLoader(callFor, { cache: false, maxBatchSize, batchScheduleFn: setImmediate });
      loaders.set(name, loader);
    }
    return loader.load(reservation);
  };
}
