import { type Program, startProgram } from "./program.js";

const main = new URL("../../admin/dist/main.js", import.meta.url);

/** What the `petstore` command has to know of the system it works on. */
interface Workplace {
  readonly databaseUrl: string;
  readonly redisUrl?: string;
}

/** Runs a command line of an operator in a process of its own; resolves with what it printed, a line each. */
export async function petstore(workplace: Workplace, line: string): Promise<readonly string[]> {
  await using command = startPetstore(workplace, line);
  const exitCode = await command.ended;
  if (exitCode !== 0) throw new Error(`petstore ${line}: exit code ${exitCode}: ${command.output.join(" ")}`);
  return command.output;
}

export function startPetstore({ databaseUrl, redisUrl = "" }: Workplace, line: string): Program {
  return startProgram({
    main,
    words: line.split(" "),
    environment: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  });
}
