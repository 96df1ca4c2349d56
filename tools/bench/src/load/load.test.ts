import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeLoad } from "./load.js";
import type { Operation } from "./requests.js";
import { restRequests } from "./rest-requests.js";
import { createDraw, mixed } from "./workload.js";

const root: Operation = { request: { method: "GET", path: "/", headers: {} } };

test("waits for the response to every request, and reports them all", async () => {
  let requests = 0;
  let responses = 0;
  await using server = await openServer(async (_request, response) => {
    requests++;
    await delay(2);
    response.end(() => responses++);
  });
  const report = await load(server.origin, { seconds: 60, requests: 200 });
  await expect.poll(() => responses).toBe(requests);
  expect(report.requests).toBe(requests);
  expect(requests).toBeGreaterThanOrEqual(200);
  expect(requests).toBeLessThan(220);
  expect(report.p50Ms).toBeGreaterThan(1.5);
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);
});

test("rejects an unexpected status with its body, and accepts an expected one", async () => {
  await using server = await openServer((_request, response) => response.writeHead(503).end("too busy"));
  await expect(load(server.origin, { seconds: 60 })).rejects.toThrow("GET /: status 503 too busy");
  const expected = load(server.origin, { seconds: 0.1 }, { ...root, statuses: [503] });
  expect((await expected).requests).toBeGreaterThan(4);
});

test("rejects when a connection is closed without a response", async () => {
  let requests = 0;
  await using server = await openServer((request, response) => {
    requests++;
    return requests === 20 ? request.socket.destroy() : response.end();
  });
  await expect(load(server.origin, { seconds: 0.5 })).rejects.toThrow("a request had no response");
});

test("the mixed workload has every list, 10 % creates of pets with different names, and every key", () => {
  const apiKeys = Array.from({ length: 32 }, (_, number) => `key-${number}`);
  const draw = createDraw({ parts: mixed(restRequests), apiKeys });
  const drawn = Array.from({ length: 20_000 }, () => draw().request);
  const creates = drawn.filter(({ method }) => method === "POST");
  expect(creates.length / drawn.length).toBeCloseTo(0.1, 1);
  expect(new Set(creates.map(({ body }) => body)).size).toBe(creates.length);
  expect(new Set(drawn.map(({ path }) => path)).size).toBe(1 + 21 * 4);
  expect(new Set(drawn.map(({ headers }) => headers.authorization)).size).toBe(apiKeys.length);
});

function load(origin: string, limits: { readonly seconds: number; readonly requests?: number }, operation = root) {
  const parts = [{ share: 1, operations: [operation] }];
  return makeLoad({ origin, connections: 4, parts, apiKeys: [], signal: new AbortController().signal, ...limits });
}

async function openServer(listener: RequestListener): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
