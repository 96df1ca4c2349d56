/**
 * Connections that reads share. Queries are collected until `process.nextTick` and leave together. PostgreSQL answers them
 * in order ("pipeline mode"), which saves both sides most of their system calls. A read waits for the earlier ones on its
 * connection, so a connection that falls behind takes no more.
 */
import type { Writable } from "node:stream";
import type { Client, ClientConfig } from "pg";
import type { Problem } from "../problem.js";
import { setReplyTimeout } from "../reply-timeout.js";
import {
  type BoundQuery,
  closeTimeoutMs,
  createClient,
  destroySocket,
  endClient,
  requirePrimary,
  sendQuery,
} from "./connection.js";
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

interface PipelinedReadsOptions {
  readonly count: number;
  readonly config: ClientConfig;
  /** The longest time until an answer to a query. Also the time limit of the check for a primary, and of closing. */
  readonly answerTimeoutMs: number;
  /** An open connection broke. Not called for one that cannot be opened. */
  readonly onLoss: (error: Error) => void;
  readonly onTimeout: () => void;
}

interface Pipeline {
  readonly client: Client;
  isReady: boolean;
  /** The connection is lost or unusable, and its queries may be sent on another. Not after a timeout: no time is left. */
  mayRetryElsewhere: boolean;
  /** The error of the first query that timed out. The queries after it fail with it too. */
  timeout: DatabaseTimeout | undefined;
  inFlight: number;
  /** Queries in flight at the last check. */
  inFlightBefore: number;
  /** Queries that ended since the last check. */
  answered: number;
  isBehind: boolean;
}

const checkIntervalMs = 100;
/** A connection is behind if the queries in flight 100 ms ago would need over 500 ms at its speed since then. */
const maxIntervalsToEmptyQueue = 5;
const reconnectAfterMs = 250;

export function openPipelinedReads(options: PipelinedReadsOptions): PipelinedReads {
  const { count, config, answerTimeoutMs, onLoss, onTimeout } = options;
  const pipelines = new Set<Pipeline>();
  let connectAtMs = 0;
  let isDisposed = false;
  let nextCheck = checkLater();

  /** Until the connection is ready, other connections take the queries. */
  async function open(): Promise<void> {
    const client = createClient({ ...config, pipeline: true });
    const state = { isReady: false, mayRetryElsewhere: false, isBehind: false, timeout: undefined };
    const pipeline: Pipeline = { client, ...state, inFlight: 0, inFlightBefore: 0, answered: 0 };
    pipelines.add(pipeline);
    client.on("error", (error) => {
      pipeline.mayRetryElsewhere = true;
      if (drop(pipeline) && pipeline.isReady) onLoss(error);
    });
    try {
      await client.connect();
      await requirePrimary(client, answerTimeoutMs);
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
    return endClient(client, inFlight === 0 ? closeTimeoutMs : answerTimeoutMs + closeTimeoutMs);
  }

  function check(): void {
    if (isDisposed) return;
    for (const pipeline of pipelines) {
      pipeline.isBehind = pipeline.inFlightBefore > maxIntervalsToEmptyQueue * pipeline.answered;
      pipeline.inFlightBefore = pipeline.inFlight;
      pipeline.answered = 0;
    }
    nextCheck = checkLater();
  }

  function checkLater(): NodeJS.Timeout {
    return setReplyTimeout(check, checkIntervalMs).unref();
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
      const problem = noteFailure(pipeline, error);
      if (pipeline.mayRetryElsewhere) return undefined;
      throw problem;
    } finally {
      pipeline.inFlight -= 1;
      pipeline.answered += 1;
    }
  }

  /** Ends the connection unless only this query failed. Returns the Problem of the query. */
  function noteFailure(pipeline: Pipeline, error: unknown): Problem {
    if (canRetryOnAnotherConnection(error)) pipeline.mayRetryElsewhere = true;
    if (error instanceof DatabaseTimeout && pipeline.timeout === undefined) {
      pipeline.timeout = error;
      onTimeout();
    }
    const problem = asProblem(pipeline.timeout ?? error);
    const isUnusable = pipeline.mayRetryElsewhere || problem.code === "SERVICE_UNAVAILABLE";
    // The connection takes no more queries. The ones in flight are still answered, unless a timeout destroys the socket. `end`
    // must run before the socket closes. If it does not, the client emits `error`, and the listener in `open` allows a retry
    // of the query that timed out.
    if (isUnusable && drop(pipeline)) void end(pipeline);
    return problem;
  }

  return {
    send(query) {
      if (pipelines.size < count && !isDisposed && performance.now() >= connectAtMs) void open();
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
      clearTimeout(nextCheck);
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
