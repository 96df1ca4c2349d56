import DataLoader from "dataloader";
import type { Reservation, UsageQuery } from "../quota.js";

/** Bounds how long one script call blocks Redis, and how many requests one failure reaches. */
const maxBatchSize = 64;

/**
 * Makes one call for all equal inputs of one event-loop tick, at most 64 at a time. `call` gets the input and how many
 * requests made it, and resolves with a result for each of them, in order. When it rejects, all of them reject.
 *
 * Each kind of input has a DataLoader, because each kind needs its own call. The loaders live for one tick, so a request
 * never shares a call that began before it, and inputs that nobody repeats hold no memory.
 */
export function batchEqual<Input extends UsageQuery & Partial<Reservation>, Result>(
  call: (input: Input, times: number) => Promise<readonly Result[]>,
): (input: Input) => Promise<Result> {
  let loaders = new Map<string, DataLoader<Input, Result>>();

  function loaderOf(input: Input): DataLoader<Input, Result> {
    const { account, key, limits, cost } = input;
    const kind = `${account} ${key} ${limits.perMinute} ${limits.perDay} ${cost}`;
    let loader = loaders.get(kind);
    if (loader === undefined) {
      const options = { cache: false, maxBatchSize, batchScheduleFn: setImmediate };
      loader = new DataLoader(({ length }) => call(input, length), options);
      // A new map for each tick: a map that entries come to and go from keeps old tables alive until V8's next full collection.
      if (loaders.size === 0) setImmediate(() => (loaders = new Map()));
      loaders.set(kind, loader);
    }
    return loader;
  }

  return (input) => loaderOf(input).load(input);
}
