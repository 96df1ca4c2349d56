import { randomUUID } from "node:crypto";
import { percentile } from "@petstore/harness/figures";
import type { HttpRequest } from "@petstore/harness/network";
import autocannon from "autocannon";
import { type Operation, withKey } from "./requests.js";

/** The server of a load, and its requests: random operations, each with a random key. */
export interface LoadedServer {
  readonly origin: string;
  readonly operations: readonly Operation[];
  /** Empty for a server without keys. */
  readonly apiKeys: readonly string[];
}

export interface LoadLimits {
  /** Kept alive, each with one request at a time. */
  readonly connections: number;
  readonly seconds: number;
  /** Ends the load sooner, after this number of responses. */
  readonly requests?: number;
}

export interface LoadReport {
  /** All requests, with the first of each connection. Each of them has had its response. */
  readonly requests: number;
  /** As the latencies, from the time when every connection has had its first response. */
  readonly "requests/s": number;
  readonly "p50 ms": number;
  readonly "p99 ms": number;
}

/** A busy machine answers late, which is no error. */
const timeoutSeconds = 60;

/**
 * Sends random requests with autocannon, in this process. Rejects with the first unexpected response.
 *
 * The time begins when each connection has had one response: Node accepts one connection in a turn of its event loop, so
 * 512 connections open slowly. Latencies come from each response, because autocannon's own histogram counts whole
 * milliseconds.
 */
export async function makeLoad(options: LoadedServer & LoadLimits): Promise<LoadReport> {
  const { origin, connections, seconds, requests = Number.POSITIVE_INFINITY } = options;
  const latenciesMs: number[] = [];
  let responses = 0;
  let openConnections = 0;
  let startedAtMs = Number.POSITIVE_INFINITY;
  let endedAtMs = 0;

  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    function fail(reason: unknown): void {
      instance.stop();
      reject(reason);
    }

    function setupClient(client: autocannon.Client): void {
      let request: HttpRequest | undefined;
      let isFirst = true;
      client.setRequests([
        {
          setupRequest(defaults) {
            request = drawRequest(options);
            return { ...defaults, ...request };
          },
          onResponse(status, body) {
            if (status >= 200 && status <= 299) return;
            fail(new Error(`${request?.method} ${request?.path}: status ${status} ${body}`.slice(0, 200)));
          },
        },
      ]);
      client.on("response", (_status, _bytes, latencyMs) => {
        responses++;
        endedAtMs = performance.now();
        if (openConnections === connections) latenciesMs.push(latencyMs);
        if (isFirst && ++openConnections === connections) startedAtMs = endedAtMs;
        isFirst = false;
        // The limit of a client ends it before its next request, so that no request is left without its response.
        const isOver = endedAtMs >= startedAtMs + seconds * 1_000 || responses >= requests;
        if (isOver) Object.assign(client, { responseMax: 1 });
      });
    }

    const limits = { duration: seconds + timeoutSeconds, timeout: timeoutSeconds, sampleInt: 50 };
    const instance = autocannon({ url: origin, connections, setupClient, ...limits }, (error, done) =>
      error ? reject(error) : resolve(done),
    );
    instance.on("reqError", fail);
  });
  if (result.requests.sent !== responses) throw new Error("a request had no response");
  return {
    requests: responses,
    "requests/s": latenciesMs.length / ((endedAtMs - startedAtMs) / 1_000),
    "p50 ms": percentile(latenciesMs, 50),
    "p99 ms": percentile(latenciesMs, 99),
  };
}

function drawRequest({ operations, apiKeys }: LoadedServer): HttpRequest {
  const operation = pick(operations);
  if (operation === undefined) throw new Error("a workload has at least one operation");
  return withKey(operation(randomUUID().replaceAll("-", "")), pick(apiKeys));
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
