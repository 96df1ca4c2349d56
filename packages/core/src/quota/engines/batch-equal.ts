import DataLoader from "dataloader";
import type { Reservation, UsageQuery } from "../quota.js";

/** Bounds how long one script call blocks Redis, and how many requests one failure reaches. */
const maxBatchSize = 64;

/**
 * Makes one call for all equal inputs of one event loop iteration, at most 64 at a time. `call` gets the input and the
 * number of requests that have this input, and resolves with a result for each of them, in order. When it rejects, all of
 * them reject. A request joins only a call that is not yet sent. The trace of a call belongs to its first request.
 */
export function batchEqual<Input extends UsageQuery & Partial<Reservation>, Result>(
  call: (input: Input, times: number) => Promise<readonly Result[]>,
): (input: Input) => Promise<Result> {
  /** One loader for each distinct input (account, key, limits, cost) of this event loop iteration. */
  let loaders: Map<string, DataLoader<Input, Result>> | undefined;

  return (input) => {
    if (loaders === undefined) {
      // A new map each time: V8 keeps old tables of a long-lived map, and all they refer to, until a full collection.
      loaders = new Map();
      setImmediate(() => {
        loaders = undefined;
      });
    }
    const { account, key, limits, cost } = input;
    const inputKey = `${account} ${key} ${limits.perMinute} ${limits.perDay} ${cost}`;
    let loader = loaders.get(inputKey);
    if (loader === undefined) {
      const callFor = ({ length }: readonly Input[]) => call(input, length);
      loader = new DataLoader(callFor, { cache: false, maxBatchSize, batchScheduleFn: setImmediate });
      loaders.set(inputKey, loader);
    }
    return loader.load(input);
  };
}
