import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isFilteredOut } from "@petstore/harness/figure-reporter";
import { formatFigures } from "@petstore/harness/figures";
import type {} from "@petstore/harness/test-with-figures";
import type { Reporter } from "vitest/node";
import type { Rounds } from "./benchmark.js";
import { describeMachine } from "./report.js";

declare module "vitest" {
  interface TaskMeta {
    rounds?: Rounds;
  }
}

const results = fileURLToPath(new URL("../results/", import.meta.url));

/** Prints one table of all targets at the end. Keeps a complete run of a clean commit. */
export function createBenchReporter({ isComplete }: { readonly isComplete: boolean }): Reporter {
  const startedAt = new Date().toISOString();
  const commit = isComplete ? readCommit() : undefined;
  return {
    onTestRunEnd(modules) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]).filter((test) => !isFilteredOut(test));
      const figures = tests.flatMap((test) =>
        (test.meta().figures ?? []).map((figure) => ({ ...figure, what: `${test.name}, ${figure.what}` })),
      );
      print(`\n${formatFigures(figures)}\n`);
      if (commit !== undefined) {
        const benchmarks = tests.map((test) => ({ name: test.name, ...test.meta() }));
        print(`Kept in ${keepRun(startedAt, commit, benchmarks)}`);
      } else if (isComplete) print("Not kept: the working tree differs from its commit.");
    },
  };
}

/** Writes the run and each benchmark in a line, and returns the file. Numbers have four digits: more are noise. */
function keepRun(startedAt: string, commit: string, benchmarks: readonly object[]): string {
  const lines = [{ startedAt, commit, machine: describeMachine() }, ...benchmarks].map((each) =>
    JSON.stringify(each, (_, value) => (typeof value === "number" ? Number(value.toPrecision(4)) : value)),
  );
  const file = join(results, `${startedAt.slice(0, 10)}-${commit}.json`);
  writeFileSync(file, `[\n${lines.join(",\n")}\n]\n`);
  return file;
}

/** The short name of the commit; undefined outside a repository, and when anything but the results differs from it. */
function readCommit(): string | undefined {
  const git = (...words: string[]) => execFileSync("git", words, { cwd: results, encoding: "utf8" }).trim();
  try {
    const changes = git("status", "--porcelain", "--", ":/", ":(top,exclude)tools/bench/results");
    return changes === "" ? git("rev-parse", "--short=7", "HEAD") : undefined;
  } catch {
    // An unpacked archive, or a machine without Git.
    return undefined;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
