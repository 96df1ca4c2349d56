import type { Measured, RunDeps, RunOptions, Table } from "./benchmark.js";

/** One measurement of a subject within a round. */
export interface Turn {
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * Measures all subjects in each round, so that a busy machine slows all of them, after a warm-up that does not count. Every
 * other round runs backwards: no subject always follows the same one.
 */
export async function measureRounds<Subject extends { readonly name: string }>(
  subjects: readonly Subject[],
  options: RunOptions & { readonly warmUp?: boolean },
  { progress, signal }: RunDeps,
  measure: (subject: Subject, turn: Turn) => Promise<Measured>,
): Promise<Table[]> {
  const { rounds, seconds, warmUp = true } = options;
  const tables = options.connections.map((connections) => ({
    connections,
    rounds: new Map(subjects.map(({ name }): [string, Measured[]] => [name, []])),
  }));
  for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
    const title = round === 0 ? "Warm-up" : `Round ${round} of ${rounds}`;
    for (const table of tables) {
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        signal.throwIfAborted();
        const turn = { connections: table.connections, seconds, signal };
        const measured = await measure(subject, turn).catch((cause) => {
          throw new Error(`${subject.name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
        });
        const at = tables.length > 1 ? ` at ${table.connections}` : "";
        progress(`${title}${at}: ${subject.name}`);
        if (round > 0) table.rounds.get(subject.name)?.push(measured);
      }
    }
  }
  return tables;
}
