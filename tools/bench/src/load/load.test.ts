import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { openHttpServer } from "@petstore/harness/network";
import { expect, test } from "vitest";
import { type LoadLimits, makeLoad } from "./load.js";
import { restRequests } from "./rest-requests.js";
import { mixed } from "./workload.js";

const apiKeys = Array.from({ length: 32 }, (_, number) => `key-${number}`);

test("sends different requests with every key, waits for each response, and reports them all", async () => {
  const keys = new Set<string | undefined>();
  const bodies: string[] = [];
  let responses = 0;
  await using server = await openHttpServer(async (request, response) => {
    keys.add(request.headers.authorization);
    bodies.push(await text(request));
    await delay(2);
    response.end(() => responses++);
  });
  const report = await load(server.url, { seconds: 60, requests: 2_000 });
  await expect.poll(() => responses).toBe(bodies.length);
  expect(report.requests).toBe(bodies.length);
  expect(report.requests).toBeGreaterThanOrEqual(2_000);
  expect(report.requests).toBeLessThan(2_020);
  expect(report.p50Ms).toBeGreaterThan(1.5);
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.p50Ms);
  expect(keys).toEqual(new Set(apiKeys.map((key) => `Bearer ${key}`)));
  expect(new Set(bodies).size).toBe(bodies.length);
});

test("rejects an unexpected status with its body", async () => {
  await using server = await openHttpServer((_request, response) => response.writeHead(503).end("too busy"));
  await expect(load(server.url, { seconds: 60 })).rejects.toThrow("POST /v1/pets: status 503 too busy");
});

test("rejects when a connection is closed without a response", async () => {
  let requests = 0;
  await using server = await openHttpServer((request, response) => {
    requests++;
    return requests === 20 ? request.socket.destroy() : response.end();
  });
  await expect(load(server.url, { seconds: 0.5 })).rejects.toThrow("a request had no response");
});

test("the mixed workload has every list, and 10 % creates, a tenth of them with an idempotency key", () => {
  const requests = mixed.operations(restRequests).map(({ request }) => request("name"));
  const creates = requests.filter(({ method }) => method === "POST");
  const repeatable = creates.filter(({ headers }) => "idempotency-key" in headers);
  expect(creates.length / requests.length).toBe(0.1);
  expect(repeatable.length / creates.length).toBe(0.1);
  expect(new Set(requests.map(({ path }) => path)).size).toBe(1 + 21 * 4);
});

function load(origin: string, limits: Pick<LoadLimits, "seconds" | "requests">) {
  const { signal } = new AbortController();
  return makeLoad({ origin, connections: 4, operations: [restRequests.create], apiKeys, signal, ...limits });
}
