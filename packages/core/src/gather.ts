interface Turn<Input, Output> {
  readonly groups: Map<string, Group<Input, Output>>;
  readonly ended: Promise<void>;
}

interface Group<Input, Output> {
  readonly inputs: Input[];
  readonly outputs: Promise<readonly (Output | Promise<Output>)[]>;
}

/**
 * Calls of one kind made in one turn of the event loop are carried out as one when it ends, with an output for each in
 * its place; what is traced meanwhile belongs to the first. Nothing is shared with what was carried out before a call was
 * made. Where it fails, it fails for all of them.
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
    return group.outputs.then((outputs) => outputs[place] as Output | Promise<Output>);
  };
}
