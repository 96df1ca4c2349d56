import type { Measured, RunDeps, RunOptions, Table } from "./benchmark.js";
import type { LoadLimits } from "./load/load.js";

/** One measurement of a subject within a round. */
export type Turn = Omit<LoadLimits, "requests">;

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
  const tables = options.connections.map((connections) => {
    const rounds: Record<string, Measured[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]));
    return { connections, rounds };
  });
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
        if (round > 0) table.rounds[subject.name]?.push(measured);
      }
    }
  }
  return tables;
}
