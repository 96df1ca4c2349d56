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
}

export interface Load {
  readonly results: readonly Result[];
  /** Resolves with the answer to the last request. */
  stop(): Promise<void>;
  /** Resolves with the answer to the last request of a load with a number of requests. */
  readonly done: Promise<void>;
}

/** Four of five requests list pets. The fifth creates one, with an idempotency key. */
export function startLoad(options: LoadOptions): Load {
  const { targets, apiKey, clients, pauseMs, requests = Number.POSITIVE_INFINITY } = options;
  const results: Result[] = [];
  let sent = 0;
  let isStopped = false;

  async function sendNext(connection: Connection, { api }: Target): Promise<boolean> {
    if (isStopped || sent >= requests) return false;
    sent += 1;
    results.push(await (sent % 5 === 0 ? createPet(connection, api, apiKey) : sendOne(connection, api.list, apiKey)));
    return true;
  }

  const done = runClients({ targets, clients, pauseMs }, sendNext);
  return {
    results,
    done,
    stop() {
      isStopped = true;
      return done;
    },
  };
}

export interface BurstOptions {
  /** Used in turn by the clients. */
  readonly targets: readonly Target[];
  readonly requests: number;
  /** Each has its own connection. */
  readonly clients: number;
  readonly apiKey: string;
  /** A list by default. */
  readonly call?: (api: Api, request: number) => Call;
}

/** Sends the requests as fast as they are answered. */
export async function sendBurst(options: BurstOptions): Promise<Result[]> {
  const { targets, requests, clients, apiKey, call = ({ list }) => list } = options;
  const answers: Result[] = [];
  let sent = 0;

  await runClients({ targets, clients, pauseMs: 0 }, async (connection, { api }) => {
    if (sent >= requests) return false;
    sent += 1;
    answers.push(await sendOne(connection, call(api, sent - 1), apiKey));
    return true;
  });
  return answers;
}

/** Each client has a connection to one of the targets, in turn, and sends until there is nothing more to send. */
async function runClients(
  { targets, clients, pauseMs }: Pick<LoadOptions, "targets" | "clients" | "pauseMs">,
  sendNext: (connection: Connection, target: Target) => Promise<boolean>,
): Promise<void> {
  async function runClient(client: number): Promise<void> {
    const target = targets[client % targets.length];
    if (target === undefined) return;
    using connection = openConnection(target.origin);
    // The clients do not start at the same moment.
    await sleep(Math.random() * pauseMs);
    while (await sendNext(connection, target)) if (pauseMs > 0) await sleep(pauseMs);
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
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
