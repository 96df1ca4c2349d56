import { parseArgs } from "node:util";
import type { Project, Projects } from "./projects.js";

export interface RunCommand {
  readonly name: string;
  readonly project: Project;
  /** Prints the names of the tests and runs none. */
  readonly isList: boolean;
  /** Parts of the paths of folders and test files; empty for all. */
  readonly files: string[];
  /** Empty for all. */
  readonly namePattern: string;
  readonly jsonFile: string | undefined;
  /** The project's own options. */
  readonly options: Readonly<Record<string, string>>;
}

/** Reads `<project> [options]`. Returns the text to print for `--help`. Throws if an argument is wrong. */
export function readCommandLine(projects: Projects, [name = "", ...args]: readonly string[]): RunCommand | string {
  const project = projects[name];
  if (project === undefined) {
    throw new Error(`There is no project "${name}". The projects are ${Object.keys(projects).join(", ")}.`);
  }
  const own = Object.keys(project.options ?? {}).map((option) => [option, { type: "string" } as const] as const);
  const { values } = parseArgs({ args, options: { ...Object.fromEntries(own), ...optionShapes } });
  if (values.help) return helpText(name, project);
  const { only = [], name: names = [] } = values;
  // In a single file, both options choose tests.
  const texts = project.hasOneFile ? [...only, ...names] : names;
  return {
    name,
    project,
    isList: values.list,
    files: project.hasOneFile ? [] : only,
    namePattern: texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"),
    jsonFile: values.json,
    options: ownOptions(project, values),
  };
}

const optionShapes = {
  only: { type: "string", multiple: true },
  name: { type: "string", multiple: true },
  json: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

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
