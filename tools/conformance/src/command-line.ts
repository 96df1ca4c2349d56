import { parseArgs } from "node:util";
import type { Section } from "./section.js";

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly sections: readonly Section[]; readonly jsonFile: string | undefined }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

export function readCommandLine(words: readonly string[], sections: readonly Section[]): Command {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const { only, json: jsonFile } = values;
    const unknown = only?.find((name) => !sections.some((section) => section.name === name));
    if (unknown !== undefined) {
      return { kind: "unclear", reason: `There is no such section. There are: ${namesOf(sections)}.` };
    }
    return { kind: "run", sections: sections.filter(({ name }) => only?.includes(name) ?? true), jsonFile };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(sections: readonly Section[]): string {
  const lines = sections.map(({ name, about }) => `  ${name.padEnd(11)}${about}`);
  return `Usage: npm run conformance -- [options]

Starts REST and GraphQL services as processes of their own, over a private PostgreSQL and a private Redis, and checks
from outside that both APIs keep one contract. The exit code is 1 when anything differs. Needs redis-server in PATH.

Sections:
${lines.join("\n")}

Options:
  --only <section>  only this section; may be repeated
  --json <file>     write every check to this file
  --help            show this`;
}

const optionShapes = {
  only: { type: "string", multiple: true },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

function namesOf(sections: readonly Section[]): string {
  return sections.map(({ name }) => name).join(", ");
}
