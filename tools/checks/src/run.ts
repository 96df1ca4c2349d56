import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { figureReporter, isFilteredOut } from "@petstore/harness/figure-reporter";
import { isInstalled } from "@petstore/harness/processes";
import { createVitest } from "vitest/node";
import { type RunCommand, readCommandLine } from "./command-line.js";
import { type Projects, packages } from "./projects.js";

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const warn = (text: string): void => void process.stderr.write(`${text}\n`);

/** Does what a command line such as `<project> --list` says, and sets the exit code. */
export async function runCommandLine(projects: Projects, args: readonly string[]): Promise<void> {
  let command: RunCommand | string;
  try {
    command = readCommandLine(projects, args);
  } catch (error) {
    warn(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
    return;
  }
  if (typeof command === "string") print(command);
  else await run(command);
}

/** Runs or lists the tests. */
async function run({ name, project, isList, files, namePattern, jsonFile, options }: RunCommand): Promise<void> {
  const { programs, reporter, root = new URL("..", import.meta.url) } = project;
  const missing = programs.filter((program) => !isInstalled(program)).map((program) => packages[program] ?? program);
  if (missing.length > 0) warn(`Some tests are skipped. To run them: apt-get install ${missing.join(" ")}`);
  const json = jsonFile === undefined ? [] : [["json", { outputFile: resolve(jsonFile) }] as ["json", object]];
  const vitest = await createVitest("test", {
    root: fileURLToPath(root),
    project: [name],
    watch: false,
    hideSkippedTests: true,
    reporters: ["verbose", figureReporter, ...(reporter === undefined ? [] : [reporter]), ...json],
    testNamePattern: namePattern,
  });
  vitest.provide("projectOptions", options);
  const isAnyFile = (await vitest.getRelevantTestSpecifications(files)).length > 0;
  const start = () => (isList ? vitest.collect(files) : vitest.start(files));
  const { testModules } = isAnyFile ? await start() : { testModules: [] };
  const tests = testModules.flatMap((module) => [...module.children.allTests()]);
  if (isList) for (const test of tests) print(test.fullName);
  else if (tests.every(isFilteredOut) && process.exitCode === undefined) {
    warn("No test has such a name. --list prints the names.");
    process.exitCode = 2;
  }
  await vitest.close();
}
