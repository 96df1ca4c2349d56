/**
 * Sends reads on shared connections. Queries are collected until `process.nextTick` and sent in one write. This saves most
 * system calls of this process and of PostgreSQL, which answers in order ("pipeline mode"). A read waits for all earlier reads
 * on its connection. So a connection that falls behind takes no more reads.
 */
import type { Writable } from "node:stream";
import type { Client } from "pg";
import {
  answerGraceMs,
  type BoundQuery,
  closeTimeoutMs,
  createClient,
  destroySocket,
  endClient,
  requirePrimary,
  sendQuery,
} from "./connection.js";
import { type ConnectionOptions, clientConfigOf } from "./connection-config.js";
import { asProblem, canRetryOnAnotherConnection, DatabaseTimeout } from "./database-errors.js";

export interface PipelinedReads extends AsyncDisposable {
  /**
   * Sends a query on the connection with the fewest queries in flight. Resolves with `retryElsewhere` if no connection can take
   * the query, or if the query failed only because of its connection. Rejects with a Problem.
   */
  send<Row>(query: BoundQuery): Promise<Row[] | typeof retryElsewhere>;
  /** Closes the connections without a query in flight. Later queries open new ones. */
  dropIdle(): void;
  connections(): { readonly open: number; readonly idle: number };
}

/** The query got no answer here, but may get one on a connection of the pool. */
export const retryElsewhere = "retry elsewhere";

interface Pipeline {
  readonly client: Client;
  isReady: boolean;
  inFlight: number;
  /** The number of queries that must still end before the next check. If fewer end, the connection is behind. */
  due: number;
  isBehind: boolean;
  /**
   * The error that ended the connection. After a timeout, all queries in flight fail. They are old too: a connection
   * that is behind takes no more. After any other error, they may be sent on another connection.
   */
  failure: unknown;
}

const checkIntervalMs = 100;
/** A connection is behind if fewer than a fifth of its queries end in 100 ms. So all would need over 500 ms. */
const maxIntervalsToEmptyQueue = 5;
const reconnectAfterMs = 250;

export function openPipelinedReads(options: ConnectionOptions): PipelinedReads {
  const { size, config, onServer, onLoss, onTimeout } = options;
  const pipelines = new Set<Pipeline>();
  let connectAtMs = 0;
  let isDisposed = false;
  // `setImmediate` runs after Node has read the answers that have arrived. So a busy process misses no answer.
  const checks = setInterval(() => setImmediate(check), checkIntervalMs).unref();

  async function open(): Promise<void> {
    const client = createClient({ ...clientConfigOf(config, config.readTimeoutMs), pipeline: true });
    const pipeline: Pipeline = { client, isReady: false, inFlight: 0, due: 0, isBehind: false, failure: undefined };
    pipelines.add(pipeline);
    client.on("error", (error) => {
      pipeline.failure ??= error;
      if (drop(pipeline) && pipeline.isReady) onLoss(error);
    });
    try {
      await client.connect();
      onServer(await requirePrimary(client, config.readTimeoutMs));
      pipeline.isReady = true;
    } catch {
      // The health check reports the error. A later query tries again.
      drop(pipeline);
      await end(pipeline);
    }
  }

  function drop(pipeline: Pipeline): boolean {
    connectAtMs = performance.now() + reconnectAfterMs;
    return pipelines.delete(pipeline);
  }

  /** Waits for the queries in flight. Each has a timeout of its own, which destroys the connection. */
  function end({ client, inFlight }: Pipeline): Promise<void> {
    const longestQueryMs = inFlight === 0 ? 0 : config.readTimeoutMs + answerGraceMs;
    return endClient(client, longestQueryMs + closeTimeoutMs);
  }

  function check(): void {
    for (const pipeline of pipelines) {
      pipeline.isBehind = pipeline.due > 0;
      pipeline.due = pipeline.inFlight / maxIntervalsToEmptyQueue;
    }
    // A late check must not shorten the time until the next check.
    checks.refresh();
  }

  function leastBusy(): Pipeline | undefined {
    let best: Pipeline | undefined;
    for (const pipeline of pipelines) {
      const isUsable = pipeline.isReady && !pipeline.isBehind;
      if (isUsable && (best === undefined || pipeline.inFlight < best.inFlight)) best = pipeline;
    }
    return best;
  }

  async function sendOn<Row>(pipeline: Pipeline, query: BoundQuery): Promise<Row[] | typeof retryElsewhere> {
    try {
      pipeline.inFlight += 1;
      corkUntilNextTick(pipeline.client.connection.stream);
      return await sendQuery<Row>(pipeline.client, query);
    } catch (error) {
      if (error instanceof DatabaseTimeout) onTimeout();
      // After a timeout, the socket emits an error, too. It comes later, so `failure` keeps the timeout.
      if (error instanceof DatabaseTimeout || canRetryOnAnotherConnection(error)) pipeline.failure ??= error;
      const problem = asProblem(pipeline.failure ?? error);
      // The connection takes no more queries. Queries in flight still get answers, unless a timeout destroys the socket.
      if (problem.code === "SERVICE_UNAVAILABLE" && drop(pipeline)) void end(pipeline);
      if (pipeline.failure !== undefined && !(pipeline.failure instanceof DatabaseTimeout)) return retryElsewhere;
      throw problem;
    } finally {
      pipeline.inFlight -= 1;
      pipeline.due -= 1;
    }
  }

  return {
    async send(query) {
      if (pipelines.size < size && !isDisposed && performance.now() >= connectAtMs) void open();
      const pipeline = leastBusy();
      return pipeline === undefined ? retryElsewhere : sendOn(pipeline, query);
    },
    dropIdle() {
      for (const pipeline of pipelines) {
        if (pipeline.isReady && pipeline.inFlight === 0 && drop(pipeline)) destroySocket(pipeline.client);
      }
    },
    connections() {
      const ready = [...pipelines].filter(({ isReady }) => isReady);
      return { open: ready.length, idle: ready.filter(({ inFlight }) => inFlight === 0).length };
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      clearInterval(checks);
      await Promise.all([...pipelines].map(end));
    },
  };
}

function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
