/**
 * Connections that reads share. Queries are collected until `process.nextTick` and leave together. PostgreSQL answers them
 * in order ("pipeline mode"), which saves both sides most of their system calls. A read waits for the earlier ones on its
 * connection, so a connection that falls behind takes no more.
 */
import type { Writable } from "node:stream";
import type { Client } from "pg";
import { clientConfigOf } from "./client-config.js";
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
import type { ConnectionOptions } from "./database.js";
import { asProblem, canRetryOnAnotherConnection, DatabaseTimeout } from "./database-errors.js";

export interface PipelinedReads extends AsyncDisposable {
  /**
   * Sends a query on the connection with the fewest queries in flight. Returns `undefined`, not a promise, if no connection
   * can take it. Resolves with `undefined` if the connection was lost before the answer. In both cases the query may be
   * sent elsewhere. Rejects with a Problem.
   */
  send<Row>(query: BoundQuery): Promise<Row[] | undefined> | undefined;
  /** Closes the connections without a query in flight. Later queries open new ones. */
  dropIdle(): void;
  connections(): { readonly open: number; readonly idle: number };
}

interface Pipeline {
  readonly client: Client;
  isReady: boolean;
  inFlight: number;
  /** How many queries must end before the next check. */
  due: number;
  isBehind: boolean;
  /**
   * The first error that ended the connection. After a timeout, the queries in flight fail with it too: no time is left. After
   * any other error, they may be sent on another connection.
   */
  failure: unknown;
}

const checkIntervalMs = 100;
/** A connection is behind if the queries in flight 100 ms ago would need over 500 ms at its speed since then. */
const maxIntervalsToEmptyQueue = 5;
const reconnectAfterMs = 250;

export function openPipelinedReads({ size, config, onLoss, onTimeout }: ConnectionOptions): PipelinedReads {
  const pipelines = new Set<Pipeline>();
  let connectAtMs = 0;
  let isDisposed = false;
  // Checks after the answers that have arrived were read, even if this process was busy.
  const checks = setInterval(() => setImmediate(check), checkIntervalMs).unref();

  /** Until the connection is ready, other connections take the queries. */
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
      await requirePrimary(client, config.readTimeoutMs);
      pipeline.isReady = true;
    } catch {
      // The health check reports why. A later query tries again.
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
    // A late check must not shorten the time until the next one.
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

  async function sendOn<Row>(pipeline: Pipeline, query: BoundQuery): Promise<Row[] | undefined> {
    try {
      pipeline.inFlight += 1;
      corkUntilNextTick(pipeline.client.connection.stream);
      return await sendQuery<Row>(pipeline.client, query);
    } catch (error) {
      if (error instanceof DatabaseTimeout) onTimeout();
      if (error instanceof DatabaseTimeout || canRetryOnAnotherConnection(error)) pipeline.failure ??= error;
      const problem = asProblem(pipeline.failure ?? error);
      // The connection takes no more queries. The ones in flight are still answered, unless a timeout destroys the socket.
      if (problem.code === "SERVICE_UNAVAILABLE" && drop(pipeline)) void end(pipeline);
      if (pipeline.failure !== undefined && !(pipeline.failure instanceof DatabaseTimeout)) return undefined;
      throw problem;
    } finally {
      pipeline.inFlight -= 1;
      pipeline.due -= 1;
    }
  }

  return {
    send(query) {
      if (pipelines.size < size && !isDisposed && performance.now() >= connectAtMs) void open();
      const pipeline = leastBusy();
      return pipeline && sendOn(pipeline, query);
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

/** Collects queries until `process.nextTick` and sends them in one write: many small writes cost more than the queries. */
function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
