import { once } from "node:events";
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { openListener } from "../database/listener.js";
import { queryAlone } from "../database/statement.js";
import type { Log } from "../log.js";
import { type Answer, answerChannel, listenerName, newsChannel, type Question, readAnswer } from "./news.js";
import { notify } from "./notify.js";

export interface AskInstancesOptions {
  readonly database: Database;
  /** A session of our own: see `openListener`. */
  readonly url: string;
  readonly question: Question;
  /** Tells this question's answers from others'. Unguessable, so that nobody else answers it by accident. */
  readonly id: string;
  /** How many answers to wait for; absent: one from each instance that listens. */
  readonly expected?: number;
  readonly deadlineMs: number;
  readonly log: Log;
}

export interface InstanceAnswers {
  readonly answers: readonly Answer[];
  /** How many instances were there to answer. */
  readonly listening: number;
}

/** Asks the running instances and gathers what they answer until all have, or the deadline has passed. */
export async function askInstances(options: AskInstancesOptions): Promise<InstanceAnswers> {
  const { database, url, question, id, deadlineMs, log } = options;
  const answers: Answer[] = [];
  let expected = Number.POSITIVE_INFINITY;
  const finished = new AbortController();
  const timer = setTimeout(() => finished.abort(), deadlineMs);
  const isListening = new AbortController();
  const finishWhenComplete = () => {
    if (answers.filter(({ more }) => more !== true).length >= expected) finished.abort();
  };
  await using _listener = openListener({
    url,
    channel: answerChannel,
    applicationName: "petstore-ask",
    onListening: () => isListening.abort(),
    onMessage(payload) {
      const answer = readAnswer(payload);
      if (answer?.question !== id) return;
      answers.push(answer);
      finishWhenComplete();
    },
    log,
  });
  try {
    await aborted(AbortSignal.any([isListening.signal, finished.signal]));
    const listening = (await database.run(selectListeners, {})).length;
    await database.run(notify, {
      channel: newsChannel,
      payload: JSON.stringify({ kind: "question", question: id, ask: question }),
    });
    expected = options.expected ?? listening;
    finishWhenComplete();
    await aborted(finished.signal);
    return { answers, listening };
  } finally {
    clearTimeout(timer);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

const selectListeners = queryAlone<Record<never, never>, { pid: number }>("select-listeners", (db) =>
  db.selectNoFrom(
    sql<number>`unnest(array(
      select pid from pg_stat_activity where datname = current_database() and application_name = ${sql.lit(listenerName)}
    ))`.as("pid"),
  ),
);
