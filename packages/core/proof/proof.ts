import { parseArgs } from "node:util";
import { bans } from "./bans.js";
import { differential } from "./differential.js";
import { exactness } from "./exactness.js";
import { count, type Figure, figureTable, type Suite } from "./figure.js";
import { mutants } from "./mutants.js";
import { protocol } from "./protocol/protocol.js";

const suites: readonly Suite[] = [exactness, differential, mutants, protocol, bans];

export interface ProofOutput {
  print(text: string): void;
  complain(text: string): void;
}

type Command =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly chosen: readonly Suite[]; readonly seed: number }
  | { readonly kind: "invalid"; readonly reason: string };

/** Runs one command line. The exit code is 1 when a promise is broken or a suite fails, and 2 for an invalid command line. */
export async function runProof(words: readonly string[], { print, complain }: ProofOutput): Promise<0 | 1 | 2> {
  const command = readCommandLine(words);
  switch (command.kind) {
    case "help":
      print(helpText());
      return 0;
    case "invalid":
      complain(`${command.reason}\n`);
      return 2;
    case "run": {
      const { chosen, seed } = command;
      complain(`seed ${seed}\n`);
      const figures: Figure[] = [];
      for (const suite of chosen) {
        const beganMs = performance.now();
        complain(`\n${suite.name}: ${suite.summary}\n`);
        const progress = (line: string) => complain(`  ${line}\n`);
        figures.push(...(await attempt(suite, () => suite.run({ seed, print, progress }))));
        complain(`  ${count(Math.round((performance.now() - beganMs) / 1_000))} s\n`);
      }
      print(`\n${figureTable(figures)}\n`);
      return figures.every(({ isMet }) => isMet) ? 0 : 1;
    }
  }
}

/** A suite that cannot run is a failed figure in the table. The others still run. */
async function attempt({ name }: Suite, run: () => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
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
    const names = values.only?.split(",") ?? suites.map(({ name }) => name);
    const unknown = names.find((name) => !suites.some((suite) => suite.name === name));
    if (unknown !== undefined) return { kind: "invalid", reason: `There is no suite "${unknown}"; see --help.` };
    if (!/^\d{1,9}$/.test(values.seed)) return { kind: "invalid", reason: "--seed must be a whole number." };
    return { kind: "run", chosen: suites.filter(({ name }) => names.includes(name)), seed: Number(values.seed) };
  } catch (error) {
    return { kind: "invalid", reason: error instanceof Error ? error.message : `${error}` };
  }
}

function helpText(): string {
  const lines = suites.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`);
  return `Usage: npm run quota:proof -- [options]

Tests the promises of the quota, on a private Redis and in virtual time, and prints a figure for each. The exit code is 1
when one is broken. All suites but protocol and bans need redis-server in PATH.

Suites:
${lines.join("\n")}

Options:
  --only <names>  suites to run, separated by commas (default all)
  --seed <n>      seeds every random choice, to repeat a run (default a new seed each time)
  --help          show this
`;
}

const optionShapes = {
  only: { type: "string" },
  seed: { type: "string", default: `${Math.floor(Math.random() * 1_000_000_000)}` },
  help: { type: "boolean", short: "h", default: false },
} as const;
