import fc from "fast-check";

interface RunOptions {
  /** The beginning of the test's title. */
  readonly name: string;
  readonly runs: number;
  readonly seed: number;
}

/** Runs at the same time. Each has its own seed: the sum of the given seed and its index. */
const concurrency = 64;

/**
 * Checks random values. After the first failure, only the failing value is made smaller. Rejects with the faults and the
 * requests of the smallest failing run, and the command that repeats it.
 */
export async function checkRandomly<T>(
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
  { name, runs, seed }: RunOptions,
): Promise<void> {
  const lanes = Math.min(concurrency, runs);
  let failing: number | undefined;
  const assertLane = (lane: number) =>
    fc.assert(
      fc.asyncProperty(values, async (value) => {
        if (failing !== undefined && failing !== lane) return;
        await check(value).catch((error: unknown) => {
          failing ??= lane;
          if (failing === lane) throw error;
        });
      }),
      {
        seed: seed + lane,
        numRuns: Math.ceil(runs / lanes),
        reporter({ failed, errorInstance }) {
          const command = `npm run fuzz -- --requests ${2 * runs} --name ${name} --seed ${seed + lane}`;
          if (failed) throw new Error(`${errorInstance}\nTo repeat it: ${command}`);
        },
      },
    );
  await Promise.all(Array.from({ length: lanes }, (_, lane) => assertLane(lane)));
}
