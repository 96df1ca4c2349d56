import { type DatabaseConfig, type QuotaConfig, readConfig, readDatabaseConfig } from "@petstore/core";
import { type Command, InvalidArgumentError, Option } from "commander";
import { duration } from "../arguments.js";
import { type CommandContext, databaseEnvironment, Refusal } from "../command-context.js";
import { askInstances, type InstanceResponses } from "../instances.js";
import type { Output } from "../output.js";
import { checkDatabase } from "./check-database.js";
import { checkRedis } from "./check-redis.js";
import { type Finding, fault, ok, warning } from "./finding.js";
import { maxUnits } from "./outside/check-account.js";
import { examineOutside } from "./outside/examine-outside.js";

interface DoctorOptions {
  readonly url?: string;
  readonly graphqlUrl?: string;
  /** Milliseconds. */
  readonly timeout: number;
}

export function addDoctorCommand(program: Command, context: CommandContext, print: (output: Output) => void): void {
  program
    .command("doctor")
    .description(
      "look at everything the store needs; says for each what is wrong and what to do, and exits with 1 for a fault",
    )
    .option("--url <address>", "look at a deployment from outside instead, such as https://pets.example; see below")
    .option("--graphql-url <address>", "the GraphQL API, if it is not /graphql at --url")
    .addOption(
      new Option("--timeout <duration>", "how long to wait for each response, with --url")
        .argParser(requestTimeout)
        .default(10_000, "10s"),
    )
    .addHelpText(
      "after",
      `
With --url it needs no database. It sends requests as a client does, with the API key in the variable API_KEY or on standard
input, and checks that the proxies on the way change nothing that clients need. It costs fewer than ${maxUnits} units, says how many it
has used, and creates no pet.`,
    )
    .action(async ({ url, graphqlUrl, timeout }: DoctorOptions) => {
      if (url === undefined && graphqlUrl !== undefined) throw new Refusal("Give --url too.");
      const findings =
        url === undefined
          ? await examine(context)
          : await examineOutside({ url, graphqlUrl, timeoutMs: timeout }, context);
      print({ text: findings.map(describe).join("\n"), json: findings });
      const faults = findings.filter(({ status }) => status === "fault").length;
      if (faults > 0) throw new Refusal(`Found ${faults} ${faults === 1 ? "fault" : "faults"}.`);
    });
}

function requestTimeout(text: string): number {
  const milliseconds = duration(text);
  if (milliseconds >= 1_000 && milliseconds <= 300_000) return milliseconds;
  throw new InvalidArgumentError("It must be from 1s to 5m.");
}

async function examine(context: CommandContext): Promise<Finding[]> {
  const { now } = context;
  const environment = await databaseEnvironment(context);
  if (environment === undefined)
    return [fault("database", "there is none", "Start the store with npm start, or set DATABASE_URL.")];
  const config = attempt(() => readConfig(environment));
  const quota = config instanceof Error ? undefined : config.quota;
  const findings = config instanceof Error ? configurationFaults(config) : [ok("configuration", "understood")];
  // Other faults of the configuration need not keep us from looking at the database.
  const database = attempt(() => readDatabaseConfig(environment));
  if (database instanceof Error) return findings;
  findings.push(...(await checkDatabase(database, now)));
  const isReachable = findings.every(({ check, status }) => check !== "database" || status !== "fault");
  if (quota !== undefined) findings.push(...(await checkRedis(quota.redis, now)));
  if (isReachable) findings.push(...(await checkRunning(database, quota, context)));
  return findings;
}

async function checkRunning(
  { url, directUrl = url }: DatabaseConfig,
  quota: QuotaConfig | undefined,
  context: CommandContext,
): Promise<Finding[]> {
  try {
    return checkInstances(await askInstances(directUrl, context, { about: "presence" }), quota);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [fault("instances", `could not be asked: ${error.message}`, "Mend what is said about the database.")];
  }
}

/** Checks that the running instances respond, and that they count as they are configured to. */
function checkInstances({ responses, listening }: InstanceResponses, quota: QuotaConfig | undefined): Finding[] {
  const check = "instances";
  if (listening === 0) return [warning(check, "none is running on this database", "Start one.")];
  const alone = responses.filter(({ mode }) => mode === "local").length;
  const fallback = responses.filter(({ mode }) => mode === "fallback").map(({ instance }) => instance);
  const findings: Finding[] = [];
  if (responses.length < listening) {
    const silent = `${listening - responses.length} of ${listening} did not answer within 2 s`;
    findings.push(warning(check, silent, "Look at their logs: their database pool may be exhausted."));
  }
  if (alone > 1) {
    const found = `${alone} count for themselves, so an account is granted its limit by each of them`;
    findings.push(fault(check, found, "Set the same REDIS_URL for all of them."));
  }
  if (fallback.length > 0) {
    findings.push(
      fault(check, `${fallback.join(", ")} cannot reach their Redis`, "Look at Redis and at the way there."),
    );
  }
  if (alone === 0 && quota?.redis !== undefined && quota.instances !== listening) {
    const found = `${listening} are running, and QUOTA_INSTANCES says ${quota.instances} here`;
    const advice =
      "Set QUOTA_INSTANCES to how many there are: each grants that part of a limit while Redis is unavailable.";
    findings.push(warning(check, found, advice));
  }
  return findings.length > 0 ? findings : [ok(check, `${listening} running, all answer`)];
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
    if (error instanceof Error) return error;
    throw error;
  }
}

function describe({ check, status, found, advice, guide }: Finding): string {
  const mark = (status === "fault" ? "FAULT" : status).padEnd(7);
  const lines = [`${mark}  ${check}: ${found}`];
  if (advice !== undefined) lines.push(`         -> ${advice}`);
  if (guide !== undefined) lines.push(`            See ${guide}`);
  return lines.join("\n");
}
