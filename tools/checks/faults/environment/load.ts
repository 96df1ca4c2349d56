import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, authorization, type Call, requestOf } from "./apis.js";
import { type Connection, openConnection } from "./connection.js";
import type { Result } from "./results.js";

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
  readonly call?: (api: Api, request: number) => Call;
}

export interface Load {
  readonly results: readonly Result[];
  /** Resolves with the answer to the last request. */
  stop(): Promise<void>;
  /** Resolves with the answer to the last request of a load with a number of requests. */
  readonly done: Promise<void>;
}

export function startLoad(options: LoadOptions): Load {
  const { targets, apiKey, clients, pauseMs, requests = Number.POSITIVE_INFINITY, call } = options;
  const results: Result[] = [];
  let sent = 0;
  let isStopped = false;

  async function sendNext(connection: Connection, api: Api): Promise<void> {
    sent += 1;
    const isCreate = call === undefined && sent % 5 === 0;
    const { list } = api;
    const next = isCreate
      ? createPet(connection, api, apiKey)
      : sendOne(connection, call?.(api, sent - 1) ?? list, apiKey);
    results.push(await next);
  }

  async function runClient(client: number): Promise<void> {
    const target = targets[client % targets.length];
    if (target === undefined) return;
    using connection = openConnection(target.origin);
    // The clients do not start at the same moment.
    await sleep(Math.random() * pauseMs);
    while (!isStopped && sent < requests) {
      await sendNext(connection, target.api);
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

/** Creates a pet. Its name is also the idempotency key: repeat a create with its name. By default the name is new. */
export async function createPet(
  connection: Connection,
  api: Api,
  apiKey: string,
  name: string = randomUUID(),
): Promise<Result> {
  const result = await sendOne(connection, api.create(name, name), apiKey);
  const acknowledgedPet = api.isCreated(result.status, result.text) ? name : undefined;
  return { ...result, requestedPet: name, acknowledgedPet };
}

function sendOne(connection: Connection, call: Call, apiKey: string): Promise<Result> {
  return connection.send(requestOf(call, authorization(apiKey)));
}
