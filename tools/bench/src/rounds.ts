import type { Measured, Rounds } from "./benchmark.js";

/**
 * Measures all subjects in each round, so that a busy machine slows all of them, after a warm-up that does not count. Every
 * other round runs backwards: no subject always follows the same one.
 */
export async function measureRounds<Subject extends { readonly name: string }>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject, isWarmUp: boolean) => Promise<Measured>,
  { warmUp = true }: { readonly warmUp?: boolean } = {},
): Promise<Rounds> {
  const measured: Record<string, Measured[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]));
  for (let round = warmUp ? 0 : 1; round <= rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      progress(`${round === 0 ? "Warm-up" : `Round ${round} of ${rounds}`}: ${subject.name}`);
      const values = await measure(subject, round === 0);
      if (round > 0) measured[subject.name]?.push(values);
    }
  }
  return measured;
}

export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
