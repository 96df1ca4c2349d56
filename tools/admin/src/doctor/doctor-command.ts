import { type Config, readConfig, readDatabaseConfig } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, effectiveEnvironment, namesDatabase, Refusal } from "../command-context.js";
import { askInstances } from "../instances.js";
import type { Output } from "../output.js";
import { checkDatabase } from "./check-database.js";
import { checkInstances } from "./check-instances.js";
import { checkRedis } from "./check-redis.js";
import { type Finding, fault, ok } from "./finding.js";

export function addDoctorCommand(program: Command, context: CommandContext, print: (output: Output) => void): void {
  program
    .command("doctor")
    .description(
      "look at everything the store needs; says for each what is wrong and what to do, and exits with 1 for a fault",
    )
    .action(async () => {
      const findings = await examine(context);
      print({ text: findings.map(describe).join("\n"), json: findings });
      const faults = findings.filter(({ status }) => status === "fault").length;
      if (faults > 0) throw new Refusal(`Found ${faults} ${faults === 1 ? "fault" : "faults"}.`);
    });
}

async function examine(context: CommandContext): Promise<Finding[]> {
  const { now } = context;
  const environment = await effectiveEnvironment(context);
  if (!namesDatabase(environment))
    return [fault("database", "there is none", "Start the store with npm start, or set DATABASE_URL.")];
  const config = attempt(() => readConfig(environment));
  const findings = config instanceof Error ? configurationFaults(config) : [ok("configuration", "understood")];
  const redis = config instanceof Error ? [] : await checkRedis(config.quota.redis, now);
  // Other faults of the configuration need not keep us from looking at the database.
  const database = attempt(() => readDatabaseConfig(environment));
  if (database instanceof Error) return [...findings, ...redis];
  const found = await checkDatabase(database, now);
  const isReachable = found.every(({ check, status }) => check !== "database" || status !== "fault");
  const running = isReachable
    ? await checkRunning(database, config instanceof Error ? undefined : config.quota, context)
    : [];
  return [...findings, ...found, ...redis, ...running];
}

async function checkRunning(
  { url, directUrl = url }: Config["database"],
  quota: Config["quota"] | undefined,
  context: CommandContext,
): Promise<Finding[]> {
  try {
    return checkInstances(await askInstances(directUrl, context, { about: "presence" }), quota);
  } catch (error) {
    const reason = error instanceof Error ? error.message : `${error}`;
    return [fault("instances", `could not be asked: ${reason}`, "Mend what is said about the database.")];
  }
}

/** One for each variable, in the words of the configuration itself. */
function configurationFaults({ message }: Error): Finding[] {
  const advice = "packages/core/.env.example describes every variable.";
  const [, ...lines] = message.split("\n");
  return lines.map((line) => fault("configuration", line.trim(), advice));
}

function attempt<Result>(read: () => Result): Result | Error {
  try {
    return read();
  } catch (error) {
    // Becomes a finding.
    return error instanceof Error ? error : new Error(`${error}`);
  }
}

const marks = { ok: "ok     ", warning: "warning", fault: "FAULT  " } as const;

function describe({ check, status, found, advice }: Finding): string {
  const line = `${marks[status]}  ${check}: ${found}`;
  return advice === undefined ? line : `${line}\n         -> ${advice}`;
}
