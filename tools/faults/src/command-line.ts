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
    const { only, row, json: jsonFile } = values;
    const chosen = scenarios.filter(
      ({ group, name }) => (only === undefined || group === only) && (row === undefined || row.includes(name)),
    );
    const unknown = row?.find((name) => !chosen.some((scenario) => scenario.name === name));
    if (unknown !== undefined || chosen.length === 0) {
      const names = scenarios.map(({ name }) => name).join(", ");
      const groups = [...new Set(scenarios.map(({ group }) => group))].join(", ");
      return { kind: "unclear", reason: `There is no such row. The groups are: ${groups}; the rows: ${names}.` };
    }
    return { kind: "run", scenarios: chosen, options: { stopSeconds }, jsonFile };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(scenarios: readonly Scenario[]): string {
  const rows = scenarios.map(({ group, name, cause }) => `  ${group.padEnd(10)}${name.padEnd(18)}${cause}`);
  return `Usage: npm run faults -- [options]

Causes faults for real, under load, against two REST services in processes of their own, over one private PostgreSQL, and
counts what must not happen. The exit code is 1 when a number is missed. Needs redis-server in PATH.

Rows:
${rows.join("\n")}

Options:
  --only <group>       only the rows of this group
  --row <name>         only this row; may be repeated
  --stop-seconds <n>   how long a process is stopped where a row says so (default ${defaultStopSeconds}; less for a quick run)
  --json <file>        write every number to this file
  --help               show this`;
}

const defaultStopSeconds = "30";

const optionShapes = {
  only: { type: "string" },
  row: { type: "string", multiple: true },
  "stop-seconds": { type: "string", default: defaultStopSeconds },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;
