import { randomBytes } from "node:crypto";
import { type Core, openCore, readConfig } from "@petstore/core";
import { createTestDatabase, shared } from "@petstore/harness";
import { expect } from "vitest";
import { runPetstore } from "../src/program.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command line as the `petstore` command does, and returns its output. */
export async function runCommand(
  commandLine: string,
  environment: Environment,
  { clockOffsetMs = 0, input = "" }: { readonly clockOffsetMs?: number; readonly input?: string } = {},
) {
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

/** Gives the tests of a file or a suite a database, on which these command lines have run. */
export async function useDatabase(...commandLines: readonly string[]) {
  const database = await shared(createTestDatabase());
  const environment = { DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.directUrl };
  const petstore = (commandLine: string, more: Environment = {}, input = "") =>
    runCommand(commandLine, { ...environment, ...more }, { input });
  for (const commandLine of commandLines) await petstore(commandLine);
  return {
    database,
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

/** An instance of the store in this process, without its APIs. On a busy machine, a slow Redis is no outage of it. */
export function openInstance(environment: Environment): Promise<Core> {
  return openCore(readConfig({ REDIS_COMMAND_TIMEOUT_MS: "5000", ...environment }), {
    log: { info() {}, warn() {}, error() {} },
    now: Date.now,
  });
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
