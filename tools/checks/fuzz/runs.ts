import fc from "fast-check";

export interface RunOptions {
  readonly runs: number;
  readonly seed: number;
  /** Repeats one run of the seed instead, as a failure names it. */
  readonly path?: string | undefined;
}

export interface Failure {
  readonly seed: number;
  readonly path: string;
  /** The faults and the requests of the smallest failing run. */
  readonly message: string;
}

/** Runs at the same time. Each has its own seed: the sum of the given seed and its index. */
const concurrency = 64;

/**
 * Runs a property with random values. After the first failure, only the failing value is made smaller.
 * @returns `undefined` when every run passed
 */
export async function findFailure<T>(
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
  { runs, seed, path }: RunOptions,
): Promise<Failure | undefined> {
  let failing: number | undefined;
  const isReplay = path !== undefined;
  const lanes = isReplay ? 1 : Math.min(concurrency, runs);
  const results = await Promise.all(
    Array.from({ length: lanes }, (_, lane) => {
      const property = fc.asyncProperty(values, async (value) => {
        if (failing !== undefined && failing !== lane) return;
        await check(value).catch((error: unknown) => {
          failing ??= lane;
          throw error;
        });
      });
      return fc.check(property, { seed: seed + lane, numRuns: Math.ceil(runs / lanes), ...(isReplay && { path }) });
    }),
  );
  const failed = results[failing ?? -1];
  if (failed === undefined) return undefined;
  const { seed: failedSeed, counterexamplePath, errorInstance } = failed;
  return {
    seed: failedSeed,
    path: counterexamplePath ?? "",
    message: errorInstance instanceof Error ? errorInstance.message : `${errorInstance}`,
  };
}

/** @param name the beginning of the test's title */
export function describeFailure(name: string, { seed, path, message }: Failure): string {
  return `${message}\nTo repeat it: npm run fuzz -- --name ${name} --seed ${seed} --path ${path}`;
}
