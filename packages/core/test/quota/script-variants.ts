import type { Call, Operation, Script } from "./operations.js";
import type { Move } from "./virtual-clock.js";

/** The script with every reservation alone and a look at the usage before and after it. */
export function withLooks({ operations, ...script }: Script): Script {
  const look = ({ account, key }: Operation, move: Move): Operation => ({ call: "usage", account, key, move });
  const stay = { waitMs: 0 };
  return {
    ...script,
    operations: operations.flatMap((operation) => {
      if (operation.call !== "reserve") return [operation];
      return [look(operation, operation.move), { ...operation, times: 1, move: stay }, look(operation, stay)];
    }),
  };
}

/** The script with these calls alone. */
export function withOnly({ operations, ...script }: Script, ...calls: readonly Call["call"][]): Script {
  return { ...script, operations: operations.filter(({ call }) => calls.includes(call)) };
}
