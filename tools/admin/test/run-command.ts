import { randomBytes } from "node:crypto";
import { runPetstore } from "../src/program.js";

export interface Ran {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

/** Runs a command line as the `petstore` command does, and returns what it said. */
export async function runCommand(
  commandLine: string,
  environment: Readonly<Record<string, string | undefined>>,
  { clockOffsetMs = 0, input = "" }: { readonly clockOffsetMs?: number; readonly input?: string } = {},
): Promise<Ran> {
  const printed: string[] = [];
  const complained: string[] = [];
  const exitCode = await runPetstore(commandLine.split(" ").filter(Boolean), {
    environment,
    standaloneUrl: async () => undefined,
    now: () => Date.now() + clockOffsetMs,
    randomBytes,
    readInput: async () => input,
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
  });
  return { exitCode, printed: printed.join("\n"), complained: complained.join("\n") };
}
