import { type Config, readConfig, readDatabaseConfig } from "@petstore/core";
import type { Command } from "commander";
import { type CommandContext, effectiveEnvironment } from "../command-context.js";
import { findInstances } from "../instances.js";
import { formatJson } from "../output.js";
import { checkDatabase } from "./check-database.js";
import { checkInstances } from "./check-instances.js";
import { checkRedis } from "./check-redis.js";
import { type Finding, fault, ok } from "./finding.js";

/** `onFault` is called when something is wrong, which the exit code then tells. */
export function addDoctorCommand(program: Command, context: CommandContext, onFault: () => void): void {
  program
    .command("doctor")
    .description(
      "look at everything the store needs; says for each what is wrong and what to do, and exits with 1 for a fault",
    )
    .option("--json", "print JSON", false)
    .action(async ({ json }: { json: boolean }) => {
      const findings = await examine(context);
      context.print(json ? formatJson(findings) : findings.map(describe).join("\n"));
      if (findings.some(({ status }) => status === "fault")) onFault();
    });
}

async function examine(context: CommandContext): Promise<Finding[]> {
  const { now } = context;
  const environment = await effectiveEnvironment(context);
  const config = attempt(() => readConfig(environment));
  const findings = config instanceof Error ? configurationFaults(config) : [ok("configuration", "understood")];
  const redis = config instanceof Error ? [] : await checkRedis(config.quota.redis, now);
  // Other faults of the configuration need not keep us from looking at the database.
  const database = attempt(() => readDatabaseConfig(environment));
  if (database instanceof Error) return [...findings, ...redis];
  const found = await checkDatabase(database, now);
  const isReachable = found.every(({ check, status }) => check !== "database" || status !== "fault");
  const quota = config instanceof Error ? undefined : config.quota;
  return [...findings, ...found, ...redis, ...(isReachable ? await checkRunning(database, quota, context) : [])];
}

async function checkRunning(
  config: Config["database"],
  quota: Config["quota"] | undefined,
  context: CommandContext,
): Promise<Finding[]> {
  try {
    return checkInstances(await findInstances({ directUrl: config.directUrl ?? config.url }, context), quota);
  } catch (error) {
    const reason = error instanceof Error ? error.message : `${error}`;
    return [fault("instances", `could not be asked: ${reason}`, "Mend what is said about the database.")];
  }
}

/** One for each variable, in the words of the configuration itself. */
function configurationFaults({ message }: Error): Finding[] {
  const lines = message.split("\n").slice(1);
  return lines.map((line) =>
    fault("configuration", line.trim(), "packages/core/.env.example describes every variable."),
  );
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
