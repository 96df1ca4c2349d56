import { once } from "node:events";
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { openListener } from "../database/listener.js";
import { statement } from "../database/statement.js";
import type { Log } from "../log.js";
import {
  changeChannel,
  type OperatorRequest,
  type OperatorResponse,
  publish,
  readResponse,
  responseChannel,
  subscriberName,
} from "./change-events.js";

interface RequestOptions {
  readonly database: Database;
  /** Must lead to a session of our own: see `openListener`. */
  readonly url: string;
  readonly request: OperatorRequest;
  /** Unguessable, so that nobody else can respond. */
  readonly id: string;
  /** How many responses to wait for. Default: one from each instance that listens. */
  readonly expected?: number;
  readonly deadlineMs: number;
  readonly log: Log;
}

export interface InstanceResponses {
  readonly responses: readonly OperatorResponse[];
  /** How many instances received the request. */
  readonly listening: number;
}

/** Sends a request to the running instances, and collects responses until all are there or the deadline has passed. */
export async function requestFromInstances(options: RequestOptions): Promise<InstanceResponses> {
  const { database, url, request, id, deadlineMs, log } = options;
  const responses: OperatorResponse[] = [];
  let expected = Number.POSITIVE_INFINITY;
  const finished = new AbortController();
  const timer = setTimeout(() => finished.abort(), deadlineMs);
  const isListening = new AbortController();
  const finishWhenComplete = () => {
    if (responses.filter(({ more }) => more !== true).length >= expected) finished.abort();
  };
  await using _listener = openListener({
    url,
    channel: responseChannel,
    applicationName: "petstore-ask",
    onListening: () => isListening.abort(),
    onMessage(payload) {
      const response = readResponse(payload);
      if (response?.question !== id) return;
      responses.push(response);
      finishWhenComplete();
    },
    log,
  });
  try {
    await aborted(AbortSignal.any([isListening.signal, finished.signal]));
    const listening = (await database.run(selectSubscribers, {})).length;
    await publish(database, changeChannel, { kind: "question", question: id, ask: request });
    expected = options.expected ?? listening;
    finishWhenComplete();
    await aborted(finished.signal);
    return { responses, listening };
  } finally {
    clearTimeout(timer);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

const selectSubscribers = statement<Record<never, never>, { pid: number }>("read", "select-subscribers", (db) =>
  db.selectNoFrom(
    sql<number>`unnest(array(
      select pid from pg_stat_activity where datname = current_database() and application_name = ${sql.lit(subscriberName)}
    ))`.as("pid"),
  ),
);
