import { setTimeout as delay } from "node:timers/promises";
import {
  type ChangeEvent,
  changeChannel,
  type OperatorRequest,
  type OperatorResponse,
  readResponse,
  responseChannel,
  subscriberName,
} from "@petstore/core";
import { type CommandContext, explainingFaults, type OpenedDatabase, Refusal, withClient } from "./command-context.js";

export interface InstanceResponses {
  readonly responses: readonly OperatorResponse[];
  /** How many instances received the request. */
  readonly listening: number;
}

const deadlineMs = 2_000;
const scanDeadlineMs = 15_000;

/**
 * Sends a request to every running instance. Refuses if none is running, because only the instances and their Redis have
 * the counters. Warns if some did not respond.
 */
export async function requestFromRunning(
  opened: OpenedDatabase,
  context: CommandContext,
  request: OperatorRequest,
): Promise<readonly OperatorResponse[]> {
  const { responses, listening } = await askInstances(opened, context, request);
  if (responses.length === 0) {
    throw new Refusal(
      listening === 0
        ? "No instance of the store is running on this database. Only a running instance knows this: start one."
        : `None of ${listening} running instances answered within ${deadlineMs / 1_000} s; petstore doctor may say why.`,
    );
  }
  warnOfSilent(context, responses.length, listening);
  return responses;
}

/** The bans, in parts. Only one of the instances that share a Redis is asked. */
export async function requestBans(
  opened: OpenedDatabase,
  context: CommandContext,
): Promise<readonly OperatorResponse[]> {
  const present = await requestFromRunning(opened, context, { about: "presence" });
  const sharing = present.filter(({ mode }) => mode === "shared");
  const alone = present.filter(({ mode }) => mode !== "shared");
  const of = [...sharing.slice(0, 1), ...alone].map(({ instance }) => instance);
  const { responses } = await askInstances(opened, context, { about: "bans", of }, of.length);
  warnOfSilent(context, new Set(responses.map(({ instance }) => instance)).size, of.length);
  return responses;
}

/** Collects responses until all are there (by default one from each instance that listens) or the deadline has passed. */
export function askInstances(
  { directUrl }: Pick<OpenedDatabase, "directUrl">,
  { randomBytes }: CommandContext,
  request: OperatorRequest,
  expected?: number,
): Promise<InstanceResponses> {
  const deadline = AbortSignal.timeout(request.about === "bans" ? scanDeadlineMs : deadlineMs);
  // Unguessable, so that nobody else can respond.
  const id = randomBytes(16).toString("hex");
  const responses: OperatorResponse[] = [];
  const ask = () =>
    withClient(directUrl, "petstore-ask", async (client) => {
      client.on("notification", ({ payload = "" }) => {
        const response = readResponse(payload);
        if (response?.question === id) responses.push(response);
      });
      await client.query(`listen ${responseChannel}`);
      const { rows } = await client.query(subscriberQuery, [subscriberName]);
      const event: ChangeEvent = { kind: "question", question: id, ask: request };
      await client.query("select pg_notify($1, $2)", [changeChannel, JSON.stringify(event)]);
      const isComplete = () => responses.filter(({ more }) => more !== true).length >= (expected ?? rows.length);
      while (!isComplete() && !deadline.aborted) await delay(pollMs);
      return { responses, listening: rows.length };
    });
  return explainingFaults(directUrl, ask);
}

const pollMs = 10;
const subscriberQuery = "select pid from pg_stat_activity where datname = current_database() and application_name = $1";

function warnOfSilent({ complain }: CommandContext, responded: number, asked: number): void {
  if (responded < asked) complain(`Only ${responded} of ${asked} instances answered.`);
}
