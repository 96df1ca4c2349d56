import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeMachine, type Outcome } from "./report.js";

/** A run as JSON: the rounds of every server, and the verdict on every target. */
export interface RunRecord {
  readonly startedAt: string;
  /** Undefined for a tree that differs from its commit. */
  readonly commit: string | undefined;
  readonly machine: string;
  readonly benchmarks: readonly object[];
}

const run = promisify(execFile);

/** The short name of the commit; undefined outside a repository, and when anything but the results differs from it. */
export async function readCommit(directory: string): Promise<string | undefined> {
  const git = async (...words: string[]) => (await run("git", ["-C", directory, ...words])).stdout.trim();
  try {
    const changes = await git("status", "--porcelain", "--", ":/", ":(top,exclude)tools/bench/results");
    return changes === "" ? await git("rev-parse", "--short=7", "HEAD") : undefined;
  } catch {
    // An unpacked archive, or a machine without Git.
    return undefined;
  }
}

export function recordRun(startedAtMs: number, commit: string | undefined, outcomes: readonly Outcome[]): RunRecord {
  return {
    startedAt: new Date(startedAtMs).toISOString(),
    commit,
    machine: describeMachine(),
    benchmarks: outcomes.map((outcome) => {
      const { name } = outcome.benchmark;
      if (outcome.kind === "failed") return { name, failure: outcome.reason };
      const tables = outcome.tables.map(({ connections, rounds }) => ({
        connections,
        rounds: Object.fromEntries(rounds),
      }));
      return { name, targets: outcome.verdicts, tables };
    }),
  };
}

/** One line for each benchmark. Numbers have four digits: more are noise. */
export function recordJson({ benchmarks, ...rest }: RunRecord): string {
  const json = (value: object) =>
    JSON.stringify(value, (_, each) => (typeof each === "number" ? Number(each.toPrecision(4)) : each));
  return `{${json(rest).slice(1, -1)},"benchmarks":[\n${benchmarks.map(json).join(",\n")}\n]}\n`;
}

/** Keeps a run under its day and commit, such as 2026-11-21-65b8a8d.json, and returns the file. */
export async function keepRun(directory: string, record: RunRecord): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${record.startedAt.slice(0, 10)}-${record.commit}.json`);
  await writeFile(file, recordJson(record));
  return file;
}
