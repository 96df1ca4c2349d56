import { parseArgs } from "node:util";
import { bans } from "./bans.js";
import { differential } from "./differential.js";
import { exactness } from "./exactness.js";
import { count, type Figure, figureTable, type Section } from "./figure.js";
import { mutants } from "./mutants.js";

const sections: readonly Section[] = [exactness, differential, mutants, bans];

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
}

type Command =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly chosen: readonly Section[]; readonly seed: number }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

/** Runs one command line; the exit code is 0, 1 when a figure fell short or could not be had, 2 when it was not understood. */
export async function runProof(words: readonly string[], { print, complain }: Surroundings): Promise<0 | 1 | 2> {
  const command = readCommandLine(words);
  switch (command.kind) {
    case "help":
      print(helpText());
      return 0;
    case "unclear":
      complain(`${command.reason}\n`);
      return 2;
    case "run": {
      const { chosen, seed } = command;
      complain(`seed ${seed}\n`);
      const figures: Figure[] = [];
      for (const section of chosen) {
        const beganMs = performance.now();
        complain(`\n${section.name}: ${section.summary}\n`);
        const progress = (line: string) => complain(`  ${line}\n`);
        figures.push(...(await attempt(section, () => section.run({ seed, print, progress }))));
        complain(`  ${count(Math.round((performance.now() - beganMs) / 1_000))} s\n`);
      }
      print(`\n${figureTable(figures)}`);
      return figures.every(({ isMet }) => isMet) ? 0 : 1;
    }
  }
}

/** A section that cannot run has fallen short, and the others still run; its row in the table says so. */
async function attempt({ name }: Section, run: () => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
  try {
    return await run();
  } catch (error) {
    const measured = error instanceof Error ? error.message : `${error}`;
    return [{ figure: name, required: "runs", measured, isMet: false }];
  }
}

function readCommandLine(words: readonly string[]): Command {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const names = values.only?.split(",") ?? sections.map(({ name }) => name);
    const unknown = names.find((name) => !sections.some((section) => section.name === name));
    if (unknown !== undefined) return { kind: "unclear", reason: `There is no section "${unknown}"; see --help.` };
    if (!/^\d{1,9}$/.test(values.seed)) return { kind: "unclear", reason: "--seed must be a whole number." };
    return { kind: "run", chosen: sections.filter(({ name }) => names.includes(name)), seed: Number(values.seed) };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

function helpText(): string {
  const lines = sections.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`);
  return `Usage: npm run quota:proof -- [options]

Puts the quota's promises to the test, on a private Redis and in virtual time, and prints a figure for each. The exit code
is 1 when one falls short. All but the last section need redis-server in PATH.

Sections:
${lines.join("\n")}

Options:
  --only <names>  sections to run, separated by commas (default all)
  --seed <n>      repeats a run: everything random is drawn from it (default a new one each time)
  --help          show this
`;
}

const optionShapes = {
  only: { type: "string" },
  seed: { type: "string", default: `${Math.floor(Math.random() * 1_000_000_000)}` },
  help: { type: "boolean", short: "h", default: false },
} as const;
