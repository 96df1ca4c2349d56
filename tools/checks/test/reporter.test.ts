import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createVitest } from "vitest/node";
import { createReporter, type RunReport } from "../src/reporter.js";

interface SampleRun {
  readonly report: RunReport;
  readonly printed: string;
  readonly progress: string;
}

/** Runs the sample tests in a vitest of their own. */
async function runSample({ ci, name, minutesAtMost }: { ci: string; name?: string; minutesAtMost?: number }) {
  const directory = await mkdtemp(join(tmpdir(), "petstore-checks-"));
  const jsonFile = join(directory, "report.json");
  const printed: string[] = [];
  const progress: string[] = [];
  const reporter = createReporter({
    print: (text) => printed.push(text),
    progress: (text) => progress.push(text),
    jsonFile,
    minutesAtMost,
  });
  const { exitCode } = process;
  try {
    const vitest = await createVitest("test", {
      root: fileURLToPath(new URL("..", import.meta.url)),
      config: false,
      watch: false,
      include: ["test/sample.ts"],
      setupFiles: ["./src/setup.ts"],
      tags: [{ name: "absent-program" }],
      env: { CI: ci },
      reporters: [reporter],
      ...(name !== undefined && { testNamePattern: name }),
    });
    await vitest.start();
    await vitest.close();
    const report: RunReport = JSON.parse(await readFile(jsonFile, "utf8"));
    return { report, printed: printed.join("\n"), progress: progress.join("\n") } satisfies SampleRun;
  } finally {
    // The run of the sample fails; this one does not.
    process.exitCode = exitCode;
    await rm(directory, { recursive: true });
  }
}

function resultsOf({ report }: SampleRun): Record<string, string> {
  return Object.fromEntries(report.tests.map(({ name, result }) => [name, result]));
}

it("fails a test that misses a limit, and names every figure with its limit", async () => {
  const run = await runSample({ ci: "" });
  expect(resultsOf(run)).toEqual({
    "keeps its limits": "passed",
    "misses two limits": "failed",
    throws: "failed",
    "needs a program": "skipped",
  });
  expect(run.report.passed).toBe(false);
  expect(run.printed).toMatch(/^passed \d+ s +keeps its limits\n {4}ok {5}answers, p99: 12.3 ms \(<= 50\)\n/m);
  expect(run.printed).toMatch(/^FAILED \d+ s +misses two limits\n {4}MISSED answers, p99: 80 ms \(<= 50\)\n/m);
  expect(run.printed).toContain("MISSED requests: NaN (>= 1)");
  expect(run.printed).toMatch(/^FAILED \d+ s +throws\n {4}Error: the service did not start$/m);
  expect(run.printed).toMatch(/^Load average: [\d.]+ before, [\d.]+ at most, with \d+ cores$/m);
  expect(run.printed).toMatch(/^1 passed, 2 failed, 1 skipped in 0\.\d minutes$/m);
  expect(run.progress).toMatch(/^keeps its limits \.\.\.\n {2}passed/m);
});

it("skips a test whose program is missing, and says so", async () => {
  const run = await runSample({ ci: "", name: "needs a program" });
  expect(resultsOf(run)).toEqual({ "needs a program": "skipped" });
  expect(run.report.passed).toBe(true);
  expect(run.printed).toContain("Skipped: needs a program: absent-program not in PATH");
});

it("fails a test whose program is missing where CI is set", async () => {
  const run = await runSample({ ci: "true", name: "needs a program" });
  expect(resultsOf(run)).toEqual({ "needs a program": "failed" });
  expect(run.printed).toContain("Error: absent-program not in PATH");
});

it("fails a run that takes longer than its limit", async () => {
  const run = await runSample({ ci: "", name: "keeps its limits", minutesAtMost: 0 });
  expect(run.report).toMatchObject({ passed: false, tests: [{ result: "passed" }] });
  expect(run.printed).toMatch(/minutes \(at most 0 minutes\)$/);
});
