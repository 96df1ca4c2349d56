import type { Database } from "./database.js";
import { statement } from "./statement.js";

/** Whether the database answers, as of the last look: asking costs nothing, however often it is asked. */
export interface Reachability extends Disposable {
  isReachable(): boolean;
}

const lookIntervalMs = 1_000;

/** Looks once a second; until the first look has succeeded the database counts as away. */
export function watchDatabase(database: Database): Reachability {
  let isReachable = false;
  let next: NodeJS.Timeout | undefined;
  let isDisposed = false;

  async function look(): Promise<void> {
    // The failure is the answer; the requests that meet it report it.
    isReachable = await database.run(selectNothing, {}).then(
      () => true,
      () => false,
    );
    if (!isDisposed) next = setTimeout(look, lookIntervalMs).unref();
  }

  void look();
  return {
    isReachable: () => isReachable,
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(next);
    },
  };
}

const selectNothing = statement<Record<never, never>, { one: number }>("select-nothing", (db) =>
  db.selectNoFrom(({ lit }) => lit(1).as("one")),
);
