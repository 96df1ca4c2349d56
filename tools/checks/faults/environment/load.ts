import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { type Api, authorization, type Call, requestOf } from "./apis.js";
import { openPipeline, type Pipeline } from "./pipeline.js";
import { noAnswer, type Result } from "./results.js";

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

  async function sendNext(pipeline: Pipeline, { api }: Target): Promise<boolean> {
    if (isStopped || sent >= requests) return false;
    sent += 1;
    results.push(await (sent % 5 === 0 ? createPet(pipeline, api, apiKey) : sendOne(pipeline, api.list, apiKey)));
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
  /** The number of requests of a client in flight. One by default. */
  readonly inFlight?: number;
  readonly apiKey: string | ((request: number) => string);
  /** A list by default. */
  readonly call?: (api: Api, request: number) => Call;
}

/** Sends the requests as fast as they are answered. */
export async function sendBurst(options: BurstOptions): Promise<Result[]> {
  const { targets, requests, clients, inFlight = 1, apiKey, call = ({ list }) => list } = options;
  const answers: Result[] = [];
  let sent = 0;

  function nextRequests(api: Api): string[] {
    const first = sent;
    sent = Math.min(sent + inFlight, requests);
    return Array.from({ length: sent - first }, (_, index) => {
      const request = first + index;
      const key = typeof apiKey === "string" ? apiKey : apiKey(request);
      return requestOf(call(api, request), authorization(key));
    });
  }

  await runClients({ targets, clients, pauseMs: 0 }, async (pipeline, { api }) => {
    if (sent >= requests) return false;
    answers.push(...(await pipeline.send(nextRequests(api))));
    return true;
  });
  return answers;
}

/** Each client has a connection to one of the targets, in turn, and sends until there is nothing more to send. */
async function runClients(
  { targets, clients, pauseMs }: Pick<LoadOptions, "targets" | "clients" | "pauseMs">,
  sendNext: (pipeline: Pipeline, target: Target) => Promise<boolean>,
): Promise<void> {
  async function runClient(client: number): Promise<void> {
    const target = targets[client % targets.length];
    if (target === undefined) return;
    using pipeline = openPipeline(target.origin);
    // The clients do not start at the same moment.
    await sleep(Math.random() * pauseMs);
    while (await sendNext(pipeline, target)) if (pauseMs > 0) await sleep(pauseMs);
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
}

/** Creates a pet whose name no other request uses. Repeat the create with the same id. */
export async function createPet(
  pipeline: Pipeline,
  api: Api,
  apiKey: string,
  id: string = randomUUID(),
): Promise<Result> {
  const requestedPet = `Pet ${id}`;
  const result = await sendOne(pipeline, api.create(requestedPet, id), apiKey);
  const acknowledgedPet = api.isCreated(result.status, result.text) ? requestedPet : undefined;
  return { ...result, requestedPet, acknowledgedPet };
}

async function sendOne(pipeline: Pipeline, call: Call, apiKey: string): Promise<Result> {
  const [result] = await pipeline.send([requestOf(call, authorization(apiKey))]);
  return result ?? noAnswer(nowMs(), "none");
}
