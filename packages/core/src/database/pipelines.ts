/**
 * Connections that queries share. Those made at one time leave together, and PostgreSQL answers them in
 * order ("pipeline mode"), which spares both sides most of their system calls. A query waits for those before it, so a
 * connection that falls behind takes no further ones.
 */
import { Client, type ClientConfig } from "pg";
import { sendTogether } from "../send-together.js";
import { timeoutAfterReading } from "../timeout-after-reading.js";
import { asProblem, isForAnotherConnection } from "./availability.js";
import { type PreparedQuery, sendQuery } from "./send-query.js";

export interface Pipelines extends AsyncDisposable {
  /**
   * Sends a query on the least busy connection. `undefined` where none can take it, and a promise of `undefined` where
   * the connection was lost before the answer: it may be asked elsewhere. Rejects with a Problem.
   */
  ask<Row>(query: PreparedQuery): Promise<Row[] | undefined> | undefined;
  connections(): { readonly open: number; readonly idle: number };
}

interface Pipeline {
  readonly client: Client;
  isReady: boolean;
  /** Whether what it owes may be asked elsewhere. Not so where it was too slow: the time for an answer is over then. */
  isLost: boolean;
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

/** `onLoss` is told of connections that break, not of those that cannot be made. */
export function openPipelines(count: number, config: ClientConfig, onLoss: (error: Error) => void): Pipelines {
  const pipelines = new Set<Pipeline>();
  let connectAtMs = 0;
  let isDisposed = false;
  let nextLook = lookLater();

  /** Whoever asks meanwhile is served elsewhere. */
  function open(): void {
    const client = new Client({ ...config, pipeline: true });
    const counts = { owed: 0, owedBefore: 0, answered: 0 };
    const pipeline: Pipeline = { client, isReady: false, isLost: false, isBehind: false, ...counts };
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
    if (drop(pipeline)) void pipeline.client.end();
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
      sendTogether(pipeline.client.connection.stream);
      return await sendQuery<Row>(pipeline.client, query);
    } catch (error) {
      if (isForAnotherConnection(error)) pipeline.isLost = true;
      const problem = asProblem(error);
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
    connections() {
      const ready = [...pipelines].filter(({ isReady }) => isReady);
      return { open: ready.length, idle: ready.filter(({ owed }) => owed === 0).length };
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearTimeout(nextLook);
      await Promise.all([...pipelines].map(({ client }) => client.end()));
    },
  };
}
