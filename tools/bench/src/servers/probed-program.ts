import { type Program, type ProgramOptions, startProgram } from "@petstore/harness/processes";
import type { ProbeQuestion, Retained, Usage } from "./probe.js";

/** A Node program in a process of its own, with the probe. */
export interface ProbedProgram extends Program {
  usage(): Promise<Usage>;
  retained(): Promise<Retained>;
}

export interface ProbedProgramOptions extends Omit<ProgramOptions, "args"> {
  readonly main: URL;
  readonly nodeOptions?: readonly string[];
}

const probe = builtFile("servers/probe.js");

/** A file of the built package, also for tests that run on the sources. */
export function builtFile(path: string): URL {
  return new URL(`../../dist/${path}`, import.meta.url);
}

export function startProbedProgram(options: ProbedProgramOptions): ProbedProgram {
  const { main, nodeOptions = [], environment, ...rest } = options;
  const program = startProgram({
    ...rest,
    args: [...nodeOptions, "--import", probe.href, main.pathname],
    environment: { NODE_ENV: "production", ...environment },
    hasChannel: true,
  });
  const ask = (question: ProbeQuestion) => askProgram(program, question);
  return {
    ...program,
    usage: async () => (await ask({ kind: "usage" })) as Usage,
    retained: async () => (await ask({ kind: "retained" })) as Retained,
  };
}

/** Rejects when the program answers with an error. */
export async function askProgram(program: Program, question: object): Promise<unknown> {
  const answer = await program.ask(question);
  if (answer instanceof Object && "error" in answer) throw new Error(`${answer.error}`);
  return answer;
}
