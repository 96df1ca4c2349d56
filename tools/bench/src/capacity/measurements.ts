import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Rounds } from "../benchmark.js";
import { spreadOf } from "../report.js";

/** The figures of a run of `npm run bench` from which the capacity is computed. Medians of the rounds. */
export interface Measurements {
  readonly file: string;
  readonly commit: string;
  readonly machine: string;
  /** Of the process of the service, per request of the browse workload at 32 connections. */
  readonly cpuMicroseconds: { readonly rest: number; readonly graphql: number };
  /** Statements of PostgreSQL per list, also those that settle ids and look up keys. */
  readonly statementsPerList: { readonly rest: number; readonly graphql: number };
  /** The highest at 512 connections. */
  readonly memoryMebibytes: { readonly rest: number; readonly graphql: number };
  /** Quota decisions that one process reached with one Redis, for 10,000 accounts. */
  readonly decisionsPerSecond: number;
}

interface Header {
  readonly startedAt: string;
  readonly commit: string;
  readonly machine: string;
}

type Result = readonly [Header, ...{ readonly name: string; readonly rounds?: Rounds }[]];

/** Of the newest run in the folder. Throws an error with a one-line message if no run has every figure. */
export async function readNewestMeasurements(folder: string): Promise<Measurements> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const results = await Promise.all(
    names.map(async (name) => ({ name, result: await readResult(join(folder, name)) })),
  );
  const [newest] = results.sort((a, b) => b.result[0].startedAt.localeCompare(a.result[0].startedAt));
  if (newest === undefined) throw new Error(`${folder} has no results: run npm run bench on a clean commit.`);
  return measurementsOf(newest.name, newest.result);
}

/** Throws an error with a one-line message if the file cannot be read, or lacks a figure. */
export async function readMeasurements(file: string): Promise<Measurements> {
  return measurementsOf(basename(file), await readResult(file));
}

async function readResult(file: string): Promise<Result> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`${file} cannot be read.`, { cause: error });
  });
  try {
    const result = JSON.parse(text);
    if (Array.isArray(result) && typeof result[0]?.startedAt === "string") return result as unknown as Result;
  } catch (error) {
    throw new Error(`${file} is no JSON.`, { cause: error });
  }
  throw new Error(`${file} is no result of npm run bench.`);
}

function measurementsOf(file: string, [{ commit, machine }, ...benchmarks]: Result): Measurements {
  const measured = (benchmark: string, of: string, measure: string): number => {
    const rounds = benchmarks.find(({ name }) => name === benchmark)?.rounds ?? {};
    const { median } = spreadOf({ of, measure }, rounds);
    if (Number.isFinite(median) && median > 0) return median;
    throw new Error(`${file} has no "${measure}" of ${of} in "${benchmark}": run npm run bench on a clean commit.`);
  };
  const [rest, graphql] = ["petstore-rest", "petstore-graphql"] as const;
  const ofBoth = (benchmark: string, measure: string) => ({
    rest: measured(benchmark, rest, measure),
    graphql: measured(benchmark, graphql, measure),
  });
  const cpu = "CPU us/request";
  return {
    file,
    commit,
    machine,
    cpuMicroseconds: {
      rest: measured("rest-browse at 32", rest, cpu),
      graphql: measured("graphql-browse at 32", graphql, cpu),
    },
    statementsPerList: ofBoth("statements", "SQL statements/list"),
    memoryMebibytes: ofBoth("memory", "highest RSS MiB at 512 connections"),
    decisionsPerSecond: measured("quota at 64", "petstore-redis", "decisions/s"),
  };
}
