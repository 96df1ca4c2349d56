import { parseArgs } from "node:util";
import { type Project, projects } from "./projects.js";

export type Command =
  | { readonly kind: "help"; readonly text: string }
  /** The arguments are wrong; `reason` says how. */
  | { readonly kind: "wrong"; readonly reason: string }
  | RunCommand;

interface RunCommand {
  readonly kind: "run" | "list";
  readonly project: string;
  /** Paths of folders and test files below the package; empty for all. */
  readonly files: readonly string[];
  readonly namePattern: string | undefined;
  readonly jsonFile: string | undefined;
  /** The project's own options. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Reads `<project> [options]`.
 * @param filesOf the paths of a project's test files below the package
 */
export function readCommandLine(args: readonly string[], filesOf: (project: string) => readonly string[]): Command {
  const [project = "", ...options] = args;
  if (projects[project] === undefined) {
    return {
      kind: "wrong",
      reason: `There is no project "${project}". The projects are ${Object.keys(projects).join(", ")}.`,
    };
  }
  const paths = filesOf(project);
  try {
    const own = projects[project]?.options ?? {};
    const ownShapes = Object.fromEntries(Object.keys(own).map((name) => [name, { type: "string" } as const]));
    const { values } = parseArgs({ args: options, options: { ...ownShapes, ...optionShapes } });
    if (values.help) return { kind: "help", text: helpText(project, paths) };
    const unknown = values.only?.find((subject) => !subjectsOf(paths).has(subject));
    if (unknown !== undefined) {
      const subjects = [...subjectsOf(paths).keys()].join(", ");
      return { kind: "wrong", reason: `There is no subject "${unknown}". The subjects are ${subjects}.` };
    }
    return {
      kind: values.list ? "list" : "run",
      project,
      files: values.only?.flatMap((subject) => subjectsOf(paths).get(subject) ?? []) ?? [],
      namePattern: values.name?.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"),
      jsonFile: values.json,
      options: ownOptions(own, values),
    };
  } catch (error) {
    return { kind: "wrong", reason: error instanceof Error ? error.message : String(error) };
  }
}

const optionShapes = {
  only: { type: "string", multiple: true },
  name: { type: "string", multiple: true },
  json: { type: "string" },
  list: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

function ownOptions(
  options: NonNullable<Project["options"]>,
  values: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, { pattern, default: value }] of Object.entries(options)) {
    const text = values[name] ?? value;
    if (typeof text !== "string") continue;
    if (!pattern.test(text)) throw new Error(`--${name} cannot be "${text}".`);
    given[name] = text;
  }
  return given;
}

/** The folders and test files of a project by their names, with their paths. */
function subjectsOf(paths: readonly string[]): ReadonlyMap<string, string> {
  const subjects = new Map<string, string>();
  for (const path of paths) {
    const [project, ...parts] = path.split("/");
    let prefix = `${project}`;
    for (const part of parts) {
      prefix = `${prefix}/${part}`;
      subjects.set(part.replace(/\.test\.ts$/, ""), part.endsWith(".test.ts") ? prefix : `${prefix}/`);
    }
  }
  return subjects;
}

function helpText(project: string, paths: readonly string[]): string {
  const { about = "", programs = [], options = {} } = projects[project] ?? {};
  const own = Object.entries(options).map(([name, option]) => `  --${name} <value>`.padEnd(20) + option.about);
  return `Usage: npm run ${project} -- [options]

${about}

Subjects: ${[...subjectsOf(paths).keys()].join(", ")}
${programs.length === 0 ? "" : `Programs: ${programs.join(", ")}. A test whose program is not in PATH is skipped; it fails where CI is set.\n`}
Options:
${own.map((line) => `${line}\n`).join("")}  --only <subject>  only the tests of this subject; may be repeated
  --name <text>     only the tests with this text in their names; may be repeated
  --list            print the names of the tests and run none
  --json <file>     write every figure to this file
  --help            print this text

Exit codes: 0 when every test passed, 1 when one failed, 2 when the arguments are wrong.`;
}
