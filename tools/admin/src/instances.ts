import {
  type InstanceResponses,
  type OperatorRequest,
  type OperatorResponse,
  requestFromInstances,
} from "@petstore/core";
import { type CommandContext, type OpenedDatabase, Refusal, silent } from "./command-context.js";

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
  const { responses, listening } = await send(opened, context, request);
  if (responses.length === 0) {
    throw new Refusal(
      listening === 0
        ? "No instance of the store is running on this database, and only those know: start one."
        : `None of ${listening} running instances answered within ${deadlineMs / 1_000} s; petstore doctor may say why.`,
    );
  }
  warnOfSilent(context, responses.length, listening);
  return responses.filter(({ failed }) => failed !== true);
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
  const { responses } = await send(opened, context, { about: "bans", of }, of.length);
  const usable = responses.filter(({ failed }) => failed !== true);
  warnOfSilent(context, new Set(usable.map(({ instance }) => instance)).size, of.length);
  return usable;
}

/** Which instances respond. Does not refuse if none is running. */
export function findInstances(opened: OpenedDatabase, context: CommandContext): Promise<InstanceResponses> {
  return send(opened, context, { about: "presence" });
}

function send(
  { database, directUrl: url }: OpenedDatabase,
  { randomBytes }: CommandContext,
  request: OperatorRequest,
  expected?: number,
): Promise<InstanceResponses> {
  return requestFromInstances({
    database,
    url,
    request,
    id: randomBytes(16).toString("hex"),
    deadlineMs: request.about === "bans" ? scanDeadlineMs : deadlineMs,
    log: silent,
    ...(expected !== undefined && { expected }),
  });
}

function warnOfSilent({ complain }: CommandContext, responded: number, asked: number): void {
  if (responded < asked) complain(`Only ${responded} of ${asked} instances answered.`);
}
