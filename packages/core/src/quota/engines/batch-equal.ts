import { AsyncResource } from "node:async_hooks";
import DataLoader from "dataloader";
import type { Reservation, UsageQuery } from "../quota.js";

/** The batches of one event loop iteration: one DataLoader for each distinct input (account, key, limits, cost). */
interface Iteration<Input, Result> {
  readonly loaders: Map<string, DataLoader<Input, Result>>;
  readonly dispatches: (() => void)[];
}

/** Bounds how long one script call blocks Redis, and how many requests one failure reaches. */
const maxBatchSize = 64;

/**
 * Makes one call for all equal inputs of one event loop iteration, at most 64 at a time. `call` gets the input and the
 * number of requests that have this input, and resolves with a result for each of them, in order. When it rejects, all of them reject. A
 * request joins only a call that is not yet sent. The trace of a call belongs to its first request.
 */
export function batchEqual<Input extends UsageQuery & Partial<Reservation>, Result>(
  call: (input: Input, times: number) => Promise<readonly Result[]>,
): (input: Input) => Promise<Result> {
  let iteration: Iteration<Input, Result> | undefined;

  function beginIteration(): Iteration<Input, Result> {
    const dispatches: (() => void)[] = [];
    // All calls of an iteration start together, so that their commands leave in one write to the socket.
    setImmediate(() => {
      iteration = undefined;
      for (const dispatch of dispatches) dispatch();
    });
    // A new map each time: V8 keeps old tables of a long-lived map, and all they refer to, until a full collection.
    return { loaders: new Map(), dispatches };
  }

  function openLoader(input: Input, { dispatches }: Iteration<Input, Result>): DataLoader<Input, Result> {
    return new DataLoader<Input, Result>(({ length }) => call(input, length), {
      cache: false,
      maxBatchSize,
      batchScheduleFn(dispatch) {
        // Runs the batch in the async context of its first request, so that its trace belongs to that request.
        // `AsyncResource.bind` would do the same, but changes the prototype of a function each time, which is slow.
        const contextOfFirst = new AsyncResource("quota batch");
        dispatches.push(() => contextOfFirst.runInAsyncScope(dispatch));
      },
    });
  }

  return (input) => {
    iteration ??= beginIteration();
    const { account, key, limits, cost } = input;
    const inputKey = `${account} ${key} ${limits.perMinute} ${limits.perDay} ${cost}`;
    const loader = iteration.loaders.get(inputKey) ?? openLoader(input, iteration);
    iteration.loaders.set(inputKey, loader);
    return loader.load(input);
  };
}
