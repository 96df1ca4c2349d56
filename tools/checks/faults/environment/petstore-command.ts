import { randomBytes } from "node:crypto";
import { type Program, serviceFlags, startProgram } from "@petstore/harness/processes";

const main = new URL("../../../admin/dist/main.js", import.meta.url);

/** The system that the `petstore` command changes. */
export interface Installation {
  readonly databaseUrl: string;
  readonly redisUrl?: string;
}

/** Runs a command line of an operator. Resolves with its output. */
export async function petstore(installation: Installation, line: string): Promise<string> {
  await using command = startPetstore(installation, line);
  const exit = await command.ended;
  if (exit !== 0) throw new Error(`petstore ${line}: exit code ${exit}: ${command.output.join(" ")}`);
  return command.output.join("");
}

export function startPetstore({ databaseUrl, redisUrl = "" }: Installation, line: string): Program {
  return startProgram({
    name: "petstore",
    args: [...serviceFlags, main.pathname, ...line.split(" ")],
    environment: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  });
}

export interface IssuedKey {
  readonly account: string;
  readonly apiKey: string;
  readonly id: string;
}

/** Creates an account with these options and issues a key. */
export async function issueKey(installation: Installation, options: string): Promise<IssuedKey> {
  const account = `changing-${randomBytes(4).toString("hex")}`;
  await petstore(installation, `account create ${account} --plan enterprise ${options}`);
  const { key, id } = JSON.parse(await petstore(installation, `key issue ${account} --json`));
  return { account, apiKey: key, id };
}
