import { availableParallelism, loadavg } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { figureReporter, isFilteredOut } from "@petstore/harness/figure-reporter";
import { isInstalled } from "@petstore/harness/processes";
import { createVitest } from "vitest/node";
import type { RunCommand } from "./command-line.js";
import { packages, projects } from "./projects.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const warn = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs or lists the tests, and sets the exit code. */
export async function run({ kind, project, files, namePattern, jsonFile, options }: RunCommand): Promise<void> {
  const missing = projects[project]?.programs.filter((program) => !isInstalled(program)) ?? [];
  const packagesOf = missing.map((program) => packages[program] ?? program);
  if (missing.length > 0) warn(`Some tests are skipped. To run them: apt-get install ${packagesOf.join(" ")}`);
  const json = jsonFile === undefined ? [] : [["json", { outputFile: resolve(jsonFile) }] as ["json", object]];
  const vitest = await createVitest("test", {
    root,
    project: [project],
    watch: false,
    hideSkippedTests: true,
    reporters: ["verbose", figureReporter, ...json],
    ...(namePattern !== undefined && { testNamePattern: namePattern }),
  });
  vitest.provide("projectOptions", options);
  const isAnyFile = (await vitest.getRelevantTestSpecifications([...files])).length > 0;
  const start = () => (kind === "list" ? vitest.collect([...files]) : vitest.start([...files]));
  const { testModules } = isAnyFile ? await start() : { testModules: [] };
  const tests = testModules.flatMap((module) => [...module.children.allTests()]);
  if (kind === "list") for (const test of tests) print(test.fullName);
  else if (tests.every(isFilteredOut) && process.exitCode === undefined) {
    warn("No test has such a name. --list prints the names.");
    process.exitCode = 2;
  } else print(`Load average at the end: ${loadavg()[0]?.toFixed(1)}, with ${availableParallelism()} cores`);
  await vitest.close();
}
