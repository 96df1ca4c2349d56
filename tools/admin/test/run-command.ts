import { randomBytes } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { afterEach, beforeEach, expect } from "vitest";
import { runPetstore } from "../src/program.js";

export interface Ran {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command line as the `petstore` command does, and returns what it said. */
export async function runCommand(
  commandLine: string,
  environment: Environment,
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

/** Gives each test a database of its own, on which these command lines have run. */
export function useDatabase(...commandLines: readonly string[]) {
  let database: TestDatabase;
  const environment = () => ({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.directUrl });
  const petstore = (commandLine: string, more: Environment = {}, input = "") =>
    runCommand(commandLine, { ...environment(), ...more }, { input });
  beforeEach(async () => {
    database = await createTestDatabase();
    for (const commandLine of commandLines) await petstore(commandLine);
  });
  afterEach(() => database[Symbol.asyncDispose]());
  return {
    database: () => database,
    environment,
    petstore,
    /** Returns the JSON that a command prints. */
    async json(commandLine: string): Promise<ReturnType<typeof JSON.parse>> {
      const { printed, complained } = await petstore(`${commandLine} --json`);
      if (printed === "") throw new Error(complained);
      return JSON.parse(printed);
    },
  };
}

/** Matches a finding of doctor. Each one that is not ok must have advice. */
export function finding(status: "ok" | "warning" | "fault", check: string | RegExp, found: RegExp = /./): unknown {
  return expect.objectContaining({
    status,
    check: typeof check === "string" ? check : expect.stringMatching(check),
    found: expect.stringMatching(found),
    ...(status !== "ok" && { advice: expect.stringMatching(/./) }),
  });
}
