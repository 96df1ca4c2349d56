import { writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { performance } from "node:perf_hooks";
import { describeFigure, type Figure } from "@petstore/harness/figures";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";
import type {} from "./it.js";

export interface ReportOptions {
  /** Receives the progress. */
  readonly progress: (text: string) => void;
  /** Receives the final report. */
  readonly print: (text: string) => void;
  readonly jsonFile?: string | undefined;
  /** The limit for the whole run. */
  readonly minutesAtMost?: number | undefined;
}

interface TestReport {
  readonly name: string;
  readonly result: "passed" | "failed" | "skipped";
  readonly seconds: number;
  readonly figures: readonly Figure[];
  readonly errors: readonly string[];
  /** Why the test was skipped. */
  readonly reason?: string;
}

export interface RunReport {
  readonly passed: boolean;
  readonly minutes: number;
  readonly node: string;
  /** The average of one minute. */
  readonly loadAverage: { readonly before: number; readonly highest: number; readonly cores: number };
  readonly tests: readonly TestReport[];
  /** Errors outside of tests. */
  readonly errors: readonly string[];
}

/** Keeps the report of the last run. */
export interface FigureReporter extends Reporter {
  readonly report: RunReport | undefined;
}

export function createReporter({ progress, print, jsonFile, minutesAtMost }: ReportOptions): FigureReporter {
  const tests: TestReport[] = [];
  const loads = [loadAverage()];
  const startMs = performance.now();
  const sampling = setInterval(() => loads.push(loadAverage()), 5_000);
  sampling.unref();
  let report: RunReport | undefined;
  return {
    get report() {
      return report;
    },
    onTestCaseReady(test) {
      if (test.result().state !== "skipped") progress(`${test.fullName} ...`);
    },
    onTestCaseResult(test) {
      const tested = reportOf(test);
      // Without a reason, the name filter has left it out.
      if (tested.result === "skipped" && tested.reason === undefined) return;
      tests.push(tested);
      progress(`  ${describeResult(tested)}\n${detailsOf(tested)}`.trimEnd());
    },
    async onTestRunEnd(modules, unhandledErrors) {
      clearInterval(sampling);
      loads.push(loadAverage());
      const minutes = (performance.now() - startMs) / 60_000;
      const errors = [...modules.flatMap(errorsOf), ...unhandledErrors].map(describeError);
      const isLate = minutesAtMost !== undefined && minutes > minutesAtMost;
      report = {
        passed: errors.length === 0 && !isLate && tests.every(({ result }) => result !== "failed"),
        minutes,
        node: process.versions.node,
        loadAverage: { before: loads[0] ?? 0, highest: Math.max(...loads), cores: availableParallelism() },
        tests,
        errors,
      };
      print(formatReport(report, minutesAtMost));
      if (jsonFile !== undefined) await writeFile(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    },
  };
}

/** A line for each test with its figures below it, then the skipped tests, the load of the machine and the sums. */
function formatReport(report: RunReport, minutesAtMost?: number): string {
  const { tests, errors, minutes, loadAverage } = report;
  const skipped = tests.filter(({ result }) => result === "skipped");
  const sums = (["passed", "failed", "skipped"] as const).map(
    (result) => `${tests.filter((test) => test.result === result).length} ${result}`,
  );
  const limit = minutesAtMost === undefined ? "" : ` (at most ${minutesAtMost} minutes)`;
  return [
    "",
    ...tests.flatMap((test) => [`${describeResult(test).padEnd(18)}${test.name}`, detailsOf(test)]),
    ...skipped.map(({ name, reason }) => `Skipped: ${name}: ${reason}`),
    ...errors.map((error) => `Error: ${error}`),
    "",
    `Load average: ${loadAverage.before.toFixed(1)} before, ${loadAverage.highest.toFixed(1)} at most, with ${loadAverage.cores} cores`,
    `${sums.join(", ")} in ${minutes.toFixed(1)} minutes${limit}`,
  ]
    .filter((line, index) => line !== "" || index === 0)
    .join("\n");
}

function reportOf(test: TestCase): TestReport {
  const result = test.result();
  const errors = result.state === "failed" ? result.errors.map(describeError) : [];
  const note = result.state === "skipped" ? result.note : undefined;
  return {
    name: test.fullName,
    result: result.state === "pending" ? "skipped" : result.state,
    seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
    figures: test.meta().figures ?? [],
    errors,
    ...(note !== undefined && { reason: note }),
  };
}

function describeResult({ result, seconds }: TestReport): string {
  return `${result === "failed" ? "FAILED" : result} ${seconds.toFixed(0)} s`;
}

/** The figures, and the errors that are not about them. */
function detailsOf({ figures, errors }: TestReport): string {
  const others = errors.filter((error) => !error.startsWith("Error: MISSED"));
  return [...figures.map(describeFigure), ...others].map((line) => `    ${line}`).join("\n");
}

function errorsOf(module: TestModule): SerializedError[] {
  return [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
}

function describeError({ name, message }: { readonly name?: string; readonly message: string }): string {
  return `${name ?? "Error"}: ${message}`;
}

function loadAverage(): number {
  return loadavg()[0] ?? 0;
}
