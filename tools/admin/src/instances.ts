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
import { type CommandContext, explainingFaults, withClient } from "./command-context.js";

export interface InstanceResponses {
  readonly responses: readonly OperatorResponse[];
  /** How many instances received the request. */
  readonly listening: number;
}

export const deadlineMs = 2_000;
const pollMs = 10;
const subscriberQuery = "select pid from pg_stat_activity where datname = current_database() and application_name = $1";

/** Collects responses until each instance that listens has responded, or the deadline has passed. */
export function askInstances(
  directUrl: string,
  { randomBytes }: CommandContext,
  request: OperatorRequest,
): Promise<InstanceResponses> {
  const deadline = AbortSignal.timeout(deadlineMs);
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
      while (responses.length < rows.length && !deadline.aborted) await delay(pollMs);
      return { responses, listening: rows.length };
    }),
  );
}
