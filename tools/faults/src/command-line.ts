import { parseArgs } from "node:util";
import type { RunOptions, Scenario } from "./scenario.js";

export type Command =
  | { readonly kind: "help" }
  | {
      readonly kind: "run";
      readonly scenarios: readonly Scenario[];
      readonly options: RunOptions;
      readonly jsonFile: string | undefined;
    }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

export function readCommandLine(words: readonly string[], scenarios: readonly Scenario[]): Command {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const stopSeconds = Number(values["stop-seconds"]);
    if (!/^\d{1,3}$/.test(values["stop-seconds"]) || stopSeconds < 1) {
      return { kind: "unclear", reason: "--stop-seconds must be a whole number from 1 to 999." };
    }
    const { only, json: jsonFile } = values;
    const unknown = only?.find((word) => scenarios.every(({ group, name }) => group !== word && name !== word));
    if (unknown !== undefined) {
      const names = scenarios.map(({ name }) => name).join(", ");
      const groups = [...new Set(scenarios.map(({ group }) => group))].join(", ");
      return { kind: "unclear", reason: `There is no row ${unknown}. The groups are: ${groups}; the rows: ${names}.` };
    }
    const chosen = scenarios.filter(
      ({ group, name }) => only === undefined || only.includes(group) || only.includes(name),
    );
    return { kind: "run", scenarios: chosen, options: { stopSeconds }, jsonFile };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(scenarios: readonly Scenario[]): string {
  const width = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length)) + 2;
  const groupWidth = width(scenarios.map(({ group }) => group));
  const nameWidth = width(scenarios.map(({ name }) => name));
  const rows = scenarios.map(
    ({ group, name, cause }) => `  ${group.padEnd(groupWidth)}${name.padEnd(nameWidth)}${cause}`,
  );
  const programs = [...new Set(scenarios.flatMap(({ needs = [] }) => needs))].join(", ");
  return `Usage: npm run faults -- [options]

Causes faults for real, under load, against services in processes of their own, over one private PostgreSQL, and
counts what must not happen. Without options every row is played, for which 30 minutes are the limit; Ctrl-C stops it and
all it has started. The exit code is 1 when a number is missed, that limit included. Rows fail whose program is not in
PATH: ${programs}.
A full disk is a file system of its own, which only root may mount: for others that row is skipped, and says so.

Rows:
${rows.join("\n")}

Options:
  --only <name>        only this row, or the rows of this group; may be repeated
  --stop-seconds <n>   how long a process is stopped where a row says so (default ${defaultStopSeconds}; less for a quick run)
  --json <file>        write every number to this file (default for every row: tools/faults/results.json)
  --help               show this`;
}

const defaultStopSeconds = "30";

const optionShapes = {
  only: { type: "string", multiple: true },
  "stop-seconds": { type: "string", default: defaultStopSeconds },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;
