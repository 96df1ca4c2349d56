import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { figureReporter, isFilteredOut } from "@petstore/harness/figure-reporter";
import { isInstalled } from "@petstore/harness/processes";
import { createVitest } from "vitest/node";
import { type Project, type Projects, packages } from "./projects.js";

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const warn = (text: string): void => void process.stderr.write(`${text}\n`);

const optionShapes = {
  only: { type: "string", multiple: true },
  name: { type: "string", multiple: true },
  json: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Command = ReturnType<typeof readCommand>;

/** Does what a command line such as `<project> --list` says, and sets the exit code. */
export async function runCommandLine(projects: Projects, [name = "", ...args]: readonly string[]): Promise<void> {
  let command: Command;
  try {
    command = readCommand(projects, name, args);
  } catch (error) {
    warn(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
    return;
  }
  if (command.help) print(helpText(name, command.project));
  else await run(name, command);
}

/** Throws if an argument is wrong. */
function readCommand(projects: Projects, name: string, args: string[]) {
  const project = projects[name];
  if (project === undefined) {
    throw new Error(`There is no project "${name}". The projects are ${Object.keys(projects).join(", ")}.`);
  }
  const own = Object.keys(project.options ?? {}).map((option) => [option, { type: "string" } as const] as const);
  const { values } = parseArgs({ args, options: { ...Object.fromEntries(own), ...optionShapes } });
  const { only = [], name: names = [], json, list, help } = values;
  // In a single file, both options choose tests.
  const texts = project.hasOneFile ? [...only, ...names] : names;
  return {
    project,
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

/** Runs or lists the tests. */
async function run(name: string, { project, files, namePattern, ownOptions, json, list }: Command): Promise<void> {
  const { programs, reporter, root = new URL("..", import.meta.url) } = project;
  const missing = programs.filter((program) => !isInstalled(program)).map((program) => packages[program] ?? program);
  if (missing.length > 0) warn(`Some tests are skipped. To run them: apt-get install ${missing.join(" ")}`);
  const jsonReporter = json === undefined ? [] : [["json", { outputFile: resolve(json) }] as ["json", object]];
  const vitest = await createVitest("test", {
    root: fileURLToPath(root),
    project: [name],
    watch: false,
    hideSkippedTests: true,
    reporters: ["verbose", figureReporter, ...(reporter === undefined ? [] : [reporter]), ...jsonReporter],
    testNamePattern: namePattern,
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

function helpText(name: string, { about, programs, options = {}, hasOneFile }: Project): string {
  const only = hasOneFile
    ? "the same as --name"
    : `only the files of tools/checks/${name} with this text in their paths`;
  const own = Object.entries(options).map(([option, { about }]) => `${`  --${option} <text>`.padEnd(24)}${about}\n`);
  return `Usage: npm run ${name} -- [options]

${about}
A test that needs a program of this list is skipped without it, and fails where CI is set: ${programs.join(", ")}.

Options:
${own.join("")}  --only <text>         ${only}; may be repeated
  --name <text>         only the tests with this text in their names; may be repeated
  --list                print the names of the tests and run none
  --json <file>         write vitest's report with every figure to this file
  --help                print this text

Exit codes: 0 when every test passed, 1 when one failed, 2 when the arguments are wrong.`;
}
