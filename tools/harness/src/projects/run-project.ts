import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createVitest } from "vitest/node";
import { figureReporter, isFilteredOut } from "../figure-reporter.js";
import { isInstalled } from "../processes/installed-program.js";
import type { Project } from "./project.js";

type Arguments = ReturnType<typeof readArguments>;

/** Debian's packages of the programs whose packages have other names. */
const packages: Readonly<Record<string, string>> = { etcd: "etcd-server", pg_rewind: "postgresql" };

const optionShapes = {
  only: { type: "string", multiple: true },
  name: { type: "string", multiple: true },
  json: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Runs a project of the vitest configuration in this folder, as these arguments say, and sets the exit code. */
export async function runProject(name: string, project: Project, args: readonly string[]): Promise<void> {
  let options: Arguments;
  try {
    options = readArguments(project, args);
  } catch (error) {
    warn(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
    return;
  }
  if (options.help) print(helpText(name, project));
  else await run(name, project, options);
}

/** Throws if an argument is wrong. */
function readArguments(project: Project, args: readonly string[]) {
  const own = Object.keys(project.options ?? {}).map((option) => [option, { type: "string" } as const] as const);
  const { values } = parseArgs({ args: [...args], options: { ...Object.fromEntries(own), ...optionShapes } });
  const { only = [], name: names = [], json, list, help } = values;
  // In a single file, both options choose tests.
  const texts = project.hasOneFile ? [...only, ...names] : names;
  return {
    files: project.hasOneFile ? [] : only,
    namePattern: texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"),
    ownOptions: help ? {} : ownOptions(project, values),
    json,
    list,
    help,
  };
}

function ownOptions({ options = {} }: Project, values: Readonly<Record<string, unknown>>): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, { pattern, default: value }] of Object.entries(options)) {
    const text = values[name] ?? value;
    if (typeof text !== "string") continue;
    if (!pattern.test(text)) throw new Error(`--${name} cannot be "${text}".`);
    given[name] = text;
  }
  return given;
}

/** Runs or lists the tests, with the options that vitest has for it. */
async function run(name: string, { programs, reporter }: Project, options: Arguments): Promise<void> {
  const { files, namePattern, ownOptions, json, list } = options;
  const missing = programs.filter((program) => !isInstalled(program)).map((program) => packages[program] ?? program);
  if (missing.length > 0) warn(`Some tests are skipped. To run them: apt-get install ${missing.join(" ")}`);
  const jsonReporter = json === undefined ? [] : [["json", { outputFile: resolve(json) }] as ["json", object]];
  const vitest = await createVitest("test", {
    project: [name],
    watch: false,
    hideSkippedTests: true,
    testNamePattern: namePattern,
    reporters: ["verbose", figureReporter, ...(reporter === undefined ? [] : [reporter]), ...jsonReporter],
  });
  vitest.provide("projectOptions", ownOptions);
  const isAnyFile = (await vitest.getRelevantTestSpecifications(files)).length > 0;
  const start = () => (list ? vitest.collect(files) : vitest.start(files));
  const { testModules } = isAnyFile ? await start() : { testModules: [] };
  const tests = testModules.flatMap((module) => [...module.children.allTests()]);
  if (list) for (const test of tests) print(test.fullName);
  else if (tests.every(isFilteredOut) && process.exitCode === undefined) {
    warn("No test has such a name. --list prints the names.");
    process.exitCode = 2;
  }
  await vitest.close();
}

function helpText(name: string, { about, command = name, programs, options = {}, hasOneFile }: Project): string {
  const only = hasOneFile ? "the same as --name" : "only the files with this text in their paths; may be repeated";
  const own = Object.entries(options).map(([option, { about }]) => `${`  --${option} <text>`.padEnd(24)}${about}\n`);
  return `Usage: npm run ${command} -- [options]

${about}
A test that needs a program of this list is skipped without it, and fails if CI is set: ${programs.join(", ")}.

Options:
${own.join("")}  --only <text>         ${only}
  --name <text>         only the tests with this text in their names; may be repeated
  --list                print the names of the tests and run none
  --json <file>         write vitest's report with every figure to this file
  --help                print this text

Exit codes: 0 when every test passed, 1 when one failed, 2 when the arguments are wrong.`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function warn(text: string): void {
  process.stderr.write(`${text}\n`);
}
