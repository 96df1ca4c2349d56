import fc from "fast-check";

export interface RunOptions {
  /** The beginning of the test's title. */
  readonly name: string;
  readonly runs: number;
  readonly seed: number;
  /** Repeats one run of the seed instead, as a failure names it. */
  readonly path?: string | undefined;
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
  { name, runs, seed, path }: RunOptions,
): Promise<void> {
  const wanted = path === undefined ? runs : 1;
  const lanes = Math.min(concurrency, wanted);
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
        numRuns: Math.ceil(wanted / lanes),
        ...(path !== undefined && { path }),
        reporter({ failed, seed, counterexamplePath, errorInstance }) {
          const command = `npm run fuzz -- --name ${name} --seed ${seed} --path ${counterexamplePath}`;
          if (failed) throw new Error(`${errorInstance}\nTo repeat it: ${command}`);
        },
      },
    );
  await Promise.all(Array.from({ length: lanes }, (_, lane) => assertLane(lane)));
}
