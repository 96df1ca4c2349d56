interface Turn<Input, Output> {
  readonly groups: Map<string, Group<Input, Output>>;
  readonly ended: Promise<void>;
}

interface Group<Input, Output> {
  readonly inputs: Input[];
  readonly outputs: Promise<readonly (Output | Promise<Output>)[]>;
}

/** Bounds the length of a statement, the time of a script call, and how many calls one failure takes with it. */
const maxBatchSize = 64;

/**
 * Calls of one kind made in one iteration of the event loop are carried out together when it ends, in batches of at most
 * 64, with an output for each call in its place. The trace of a batch belongs to its first call. Nothing is shared with a
 * batch that began before the call was made. A batch that fails, fails for all its calls.
 */
export function gather<Input, Output>(
  kindOf: (input: Input) => string,
  carryOut: (inputs: readonly [Input, ...Input[]]) => Promise<readonly (Output | Promise<Output>)[]>,
): (input: Input) => Promise<Output> {
  let turn: Turn<Input, Output> | undefined;

  function beginTurn(): Turn<Input, Output> {
    const ended = new Promise<void>((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    });
    // A map for each turn: one whose entries come and go leaves a chain of tables behind, and V8 takes what hangs on it
    // for alive until it next collects all of the heap.
    return { groups: new Map(), ended };
  }

  function openGroup({ groups, ended }: Turn<Input, Output>, kind: string): Group<Input, Output> {
    const inputs: Input[] = [];
    const group = { inputs, outputs: ended.then(() => carryOut(inputs as [Input, ...Input[]])) };
    groups.set(kind, group);
    return group;
  }

  return (input) => {
    turn ??= beginTurn();
    const kind = kindOf(input);
    const group = turn.groups.get(kind) ?? openGroup(turn, kind);
    const place = group.inputs.push(input) - 1;
    if (group.inputs.length === maxBatchSize) turn.groups.delete(kind);
    return group.outputs.then((outputs) => outputs[place] as Output | Promise<Output>);
  };
}
