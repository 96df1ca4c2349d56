/**
 * Connections that queries share. Those made at one time leave together, and PostgreSQL answers them in
 * order ("pipeline mode"), which spares both sides most of their system calls. A query waits for those before it, so a
 * connection that falls behind takes no further ones.
 */
import type { Writable } from "node:stream";
import { Client, type ClientConfig } from "pg";
import { asProblem, DatabaseTimeout, isForAnotherConnection } from "./availability.js";
import { destroySocket, endClient, goodbyeMs } from "./end-client.js";
import { type PreparedQuery, sendQuery, timeoutAfterReading } from "./send-query.js";

export interface Pipelines extends AsyncDisposable {
  /**
   * Sends a query on the least busy connection. `undefined` where none can take it, and a promise of `undefined` where
   * the connection was lost before the answer: it may be asked elsewhere. Rejects with a Problem.
   */
  ask<Row>(query: PreparedQuery): Promise<Row[] | undefined> | undefined;
  /** Closes the connections that have no query in flight. The next query opens new ones. */
  dropIdle(): void;
  connections(): { readonly open: number; readonly idle: number };
}

export interface PipelinesOptions {
  readonly count: number;
  readonly config: ClientConfig;
  /** A query without an answer destroys its connection after this time. */
  readonly answerTimeoutMs: number;
  /** Called for a connection that breaks, but not for one that cannot be made. */
  readonly onLoss: (error: Error) => void;
  /** A query was not answered in time. */
  readonly onTimeout: () => void;
}

interface Pipeline {
  readonly client: Client;
  isReady: boolean;
  /** Whether what it owes may be asked elsewhere. Not so where it was too slow: the time for an answer is over then. */
  isLost: boolean;
  /** The first query that was too slow; those behind it fail for the same reason. */
  timeout: DatabaseTimeout | undefined;
  /** Queries it owes an answer, now and when it was last looked at. */
  owed: number;
  owedBefore: number;
  /** Since then. */
  answered: number;
  isBehind: boolean;
}

const lookIntervalMs = 100;
/** Half a second of answers is as much as a query may have before it. */
const longestQueueInLooks = 5;
const reconnectAfterMs = 250;

export function openPipelines(options: PipelinesOptions): Pipelines {
  const { count, config, answerTimeoutMs, onLoss, onTimeout } = options;
  const pipelines = new Set<Pipeline>();
  let connectAtMs = 0;
  let isDisposed = false;
  let nextLook = lookLater();

  /** Whoever asks meanwhile is served elsewhere. */
  function open(): void {
    const client = new Client({ ...config, pipeline: true });
    const counts = { owed: 0, owedBefore: 0, answered: 0 };
    const state = { isReady: false, isLost: false, isBehind: false, timeout: undefined };
    const pipeline: Pipeline = { client, ...state, ...counts };
    pipelines.add(pipeline);
    const lose = (error: Error) => {
      pipeline.isLost = true;
      if (drop(pipeline) && pipeline.isReady) onLoss(error);
    };
    client.on("error", lose);
    client.connect().then(() => {
      pipeline.isReady = true;
    }, lose);
  }

  function drop(pipeline: Pipeline): boolean {
    connectAtMs = performance.now() + reconnectAfterMs;
    return pipelines.delete(pipeline);
  }

  /** It takes no further query; those on their way are answered. */
  function retire(pipeline: Pipeline): void {
    if (drop(pipeline)) void end(pipeline);
  }

  /** Each query on its way has a timeout of its own, which ends the connection. */
  function end({ client, owed }: Pipeline): Promise<void> {
    return endClient(client, owed === 0 ? goodbyeMs : answerTimeoutMs + goodbyeMs);
  }

  function look(): void {
    if (isDisposed) return;
    for (const pipeline of pipelines) {
      pipeline.isBehind = pipeline.owedBefore > longestQueueInLooks * pipeline.answered;
      pipeline.owedBefore = pipeline.owed;
      pipeline.answered = 0;
    }
    nextLook = lookLater();
  }

  function lookLater(): NodeJS.Timeout {
    return timeoutAfterReading(look, lookIntervalMs).unref();
  }

  function leastBusy(): Pipeline | undefined {
    let best: Pipeline | undefined;
    for (const pipeline of pipelines) {
      if (pipeline.isReady && !pipeline.isBehind && (best === undefined || pipeline.owed < best.owed)) best = pipeline;
    }
    return best;
  }

  async function askOf<Row>(pipeline: Pipeline, query: PreparedQuery): Promise<Row[] | undefined> {
    try {
      corkUntilNextTick(pipeline.client.connection.stream);
      return await sendQuery<Row>(pipeline.client, query);
    } catch (error) {
      if (isForAnotherConnection(error)) pipeline.isLost = true;
      if (error instanceof DatabaseTimeout && pipeline.timeout === undefined) {
        pipeline.timeout = error;
        onTimeout();
      }
      const problem = asProblem(pipeline.timeout ?? error);
      if (pipeline.isLost || problem.code === "SERVICE_UNAVAILABLE") retire(pipeline);
      if (pipeline.isLost) return undefined;
      throw problem;
    } finally {
      pipeline.owed -= 1;
      pipeline.answered += 1;
    }
  }

  return {
    ask(query) {
      if (pipelines.size < count && !isDisposed && performance.now() >= connectAtMs) open();
      const pipeline = leastBusy();
      if (pipeline === undefined) return undefined;
      pipeline.owed += 1;
      return askOf(pipeline, query);
    },
    dropIdle() {
      for (const pipeline of pipelines) {
        if (pipeline.isReady && pipeline.owed === 0 && drop(pipeline)) destroySocket(pipeline.client);
      }
    },
    connections() {
      const ready = [...pipelines].filter(({ isReady }) => isReady);
      return { open: ready.length, idle: ready.filter(({ owed }) => owed === 0).length };
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearTimeout(nextLook);
      await Promise.all([...pipelines].map(end));
    },
  };
}

/** Small enough that PostgreSQL starts with the first queries while the others are still being written. */
const maxCorkedBytes = 2_048;

/** Sends the queries of one tick in few writes: several small writes to a socket cost more than the queries. */
function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  } else if (stream.writableLength > maxCorkedBytes) {
    stream.uncork();
    stream.cork();
  }
}
