import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { bytesOf, type HttpRequest, nowMs, openRawClient, type RawClient } from "@petstore/harness/network";
import { type Api, authorization } from "./apis.js";
import { isAcknowledged, noAnswer, type Result, resultOf } from "./results.js";

export interface Target {
  readonly origin: string;
  readonly api: Api;
}

export interface LoadOptions {
  readonly targets: readonly Target[];
  readonly apiKey: string;
  /** Each sends one request at a time, to the targets in turn. */
  readonly clients: number;
  /** Between an answer and the next request of the client. */
  readonly pauseMs: number;
  /** The load ends after this number of requests; by default when it is stopped. */
  readonly requests?: number;
  /** By default, four of five requests list pets. The fifth creates one, with an idempotency key. */
  readonly call?: (api: Api, request: number) => HttpRequest;
}

export interface CreatesOptions {
  readonly apiKey: string;
  readonly clients: number;
  /** Between a create and the next one of the client. None by default. */
  readonly pauseMs?: number;
  /** The target of the next request; `undefined` while no service runs. */
  target(): Target | undefined;
}

export interface Load {
  readonly results: readonly Result[];
  /** Resolves with the answer to the last request. */
  stop(): Promise<void>;
  /** Resolves with the answer to the last request of a load with a number of requests. */
  readonly done: Promise<void>;
}

/** A connection of a client. It costs this process a quarter of the time of undici; the services need the processors. */
interface Connection extends Disposable {
  /** Never rejects: a failure is an answer too. One call at a time. */
  send(target: Target, call: HttpRequest, apiKey: string): Promise<Result>;
}

const retryPauseMs = 20;
const timeoutMs = 60_000;

export function startLoad(options: LoadOptions): Load {
  const { targets, apiKey, clients, pauseMs, requests = Number.POSITIVE_INFINITY, call } = options;
  const results: Result[] = [];
  let sent = 0;
  let isStopped = false;

  function sendNext(connection: Connection, target: Target): Promise<Result> {
    sent += 1;
    if (call !== undefined) return connection.send(target, call(target.api, sent - 1), apiKey);
    if (sent % 5 > 0) return connection.send(target, target.api.list, apiKey);
    return createPet(connection, target, apiKey);
  }

  async function runClient(client: number): Promise<void> {
    const target = targets[client % targets.length];
    if (target === undefined) return;
    using connection = openConnection();
    // The clients do not start at the same moment.
    await sleep(Math.random() * pauseMs);
    while (!isStopped && sent < requests) {
      results.push(await sendNext(connection, target));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const done = Promise.all(Array.from({ length: clients }, (_, client) => runClient(client))).then(() => {});
  return {
    results,
    done,
    stop() {
      isStopped = true;
      return done;
    },
  };
}

/** Each create is repeated with its idempotency key until it succeeds. */
export function startCreates({ apiKey, clients, pauseMs = 0, target }: CreatesOptions): Load {
  const results: Result[] = [];
  let deadlineMs = Number.POSITIVE_INFINITY;

  async function createOne(connection: Connection): Promise<void> {
    const name = randomUUID();
    while (performance.now() < deadlineMs) {
      const current = target();
      if (current !== undefined) {
        const result = await createPet(connection, current, apiKey, name);
        results.push(result);
        if (isAcknowledged(result)) return;
      }
      await sleep(retryPauseMs);
    }
    throw new Error(`a create did not succeed in ${timeoutMs / 1_000} s after the end of the load`);
  }

  async function runClient(): Promise<void> {
    using connection = openConnection();
    while (deadlineMs === Number.POSITIVE_INFINITY) {
      await createOne(connection);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  const done = Promise.all(Array.from({ length: clients }, runClient)).then(() => {});
  return {
    results,
    done,
    stop() {
      deadlineMs = performance.now() + timeoutMs;
      return done;
    },
  };
}

/** Creates a pet. Its name is also the idempotency key: repeat a create with its name. By default the name is new. */
export async function createPet(
  connection: Connection,
  target: Target,
  apiKey: string,
  name: string = randomUUID(),
): Promise<Result> {
  const result = await connection.send(target, target.api.create(name, name), apiKey);
  const isCreated = target.api.isCreated(result.status, result.text);
  return { ...result, requestedPet: name, acknowledgedPet: isCreated ? name : undefined };
}

/** Connects for the first request, and again to another server or after the connection was closed. */
export function openConnection(): Connection {
  let client: RawClient | undefined;
  let connectedTo = "";

  function close(): void {
    client?.[Symbol.dispose]();
    client = undefined;
  }

  return {
    async send({ origin }, call, apiKey) {
      const sentAtMs = nowMs();
      if (client?.isClosed() || connectedTo !== origin) close();
      client ??= openRawClient(Number(new URL(origin).port));
      connectedTo = origin;
      // A surplus answer would be taken for the answer of this request, and move every answer after it.
      if (client.answers().length > 0) return noAnswer(sentAtMs, "a surplus answer came before");
      client.write(bytesOf(call, authorization(apiKey)));
      await client.until(1, timeoutMs);
      const [answer] = client.answers().splice(0, 1);
      const end = client.wasReset() ? "reset" : "closed";
      const reason = client.isClosed() ? end : `silent for ${timeoutMs / 1_000} s`;
      if (answer === undefined || answer.headers.connection === "close") close();
      return answer === undefined ? noAnswer(sentAtMs, reason) : resultOf(answer);
    },
    [Symbol.dispose]: close,
  };
}
