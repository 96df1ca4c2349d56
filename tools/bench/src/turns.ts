import type { CompareOptions } from "./comparison.js";

/** When every contestant is measured once, at one number of callers. */
export interface Turn {
  readonly title: string;
  /** 0 to warm up, which does not count. */
  readonly number: number;
  readonly connections: number;
}

/** Rounds from first to last, each at all numbers of callers: what changes on the machine meanwhile meets all of them. */
export function turnsOf({ rounds, connections }: Pick<CompareOptions, "rounds" | "connections">): Turn[] {
  return Array.from({ length: rounds + 1 }, (_, number) => {
    const round = number === 0 ? "Warm-up" : `Round ${number} of ${rounds}`;
    const title = (at: number) => (connections.length === 1 ? round : `${round} at ${at}`);
    return connections.map((at) => ({ title: title(at), number, connections: at }));
  }).flat();
}

/** Those of a round in the order of its turn: every other round runs backwards, so that none always comes first. */
export function inTurn<Item>(items: readonly Item[], round: number): readonly Item[] {
  return round % 2 === 0 ? items : items.toReversed();
}
