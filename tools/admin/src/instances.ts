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
import { type CommandContext, explainingFaults, Refusal, withClient } from "./command-context.js";

export interface InstanceResponses {
  readonly responses: readonly OperatorResponse[];
  /** How many instances received the request. */
  readonly listening: number;
}

const deadlineMs = 2_000;

interface AskOptions {
  /** How many instances respond. By default all that listen. */
  readonly responders?: number;
  readonly withinMs?: number;
}

const pollMs = 10;
const subscriberQuery = "select pid from pg_stat_activity where datname = current_database() and application_name = $1";

/** Collects responses until each instance has sent the last part of its response, or the deadline has passed. */
export function askInstances(
  directUrl: string,
  { randomBytes }: CommandContext,
  request: OperatorRequest,
  { responders, withinMs = deadlineMs }: AskOptions = {},
): Promise<InstanceResponses> {
  const deadline = AbortSignal.timeout(withinMs);
  // Unguessable, so that nobody else can respond.
  const id = randomBytes(16).toString("hex");
  const responses: OperatorResponse[] = [];
  return explainingFaults(directUrl, () =>
    withClient(directUrl, "petstore-ask", async (client) => {
      client.on("notification", ({ payload = "" }) => {
        const response = readResponse(payload);
        if (response?.question === id) responses.push(response);
      });
      await client.query(`listen ${responseChannel}`);
      const { rows } = await client.query(subscriberQuery, [subscriberName]);
      const event: ChangeEvent = { kind: "question", question: id, ask: request };
      await client.query("select pg_notify($1, $2)", [changeChannel, JSON.stringify(event)]);
      const isComplete = () => responses.filter(({ more }) => !more).length >= (responders ?? rows.length);
      while (!isComplete() && !deadline.aborted) await delay(pollMs);
      return { responses, listening: rows.length };
    }),
  );
}

/**
 * Sends a request to every running instance. Refuses if none is running, because only the instances and their Redis have
 * the counters. Warns if some did not respond.
 */
export async function askRunningInstances(
  directUrl: string,
  context: CommandContext,
  request: OperatorRequest,
): Promise<readonly OperatorResponse[]> {
  const asked = await askInstances(directUrl, context, request);
  const missing = missingResponses(asked);
  if (asked.responses.length === 0) throw new Refusal(missing ?? "");
  if (missing !== undefined) context.complain(missing);
  return asked.responses;
}

/** `undefined` if every running instance has responded. */
export function missingResponses({ responses, listening }: InstanceResponses): string | undefined {
  if (listening === 0) {
    return "No instance of the store is running on this database. Only a running instance knows this: start one.";
  }
  if (responses.length === 0) {
    return `None of ${listening} running instances answered within ${deadlineMs / 1_000} s; petstore doctor may say why.`;
  }
  return responses.length < listening ? `Only ${responses.length} of ${listening} instances answered.` : undefined;
}

/** What counted: the Redis that instances share, or one instance. */
export function counterOf({ instance, mode }: Pick<OperatorResponse, "instance" | "mode">): string {
  if (mode === "shared") return "Redis";
  return mode === "fallback" ? `${instance}, without its Redis` : instance;
}
