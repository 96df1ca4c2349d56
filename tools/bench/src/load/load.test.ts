import { openHttpServer } from "@petstore/harness/network";
import { expect, test } from "vitest";
import { makeLoad } from "./load.js";
import { restRequests } from "./requests.js";
import { mixed } from "./workload.js";

test("rejects an unexpected status with its body", async () => {
  await using server = await openHttpServer((_request, response) => response.writeHead(503).end("too busy"));
  await expect(load(server.url, 60)).rejects.toThrow("POST /v1/pets: status 503 too busy");
});

test("rejects when a connection is closed without a response", async () => {
  let requests = 0;
  await using server = await openHttpServer((request, response) => {
    requests++;
    return requests === 20 ? request.socket.destroy() : response.end();
  });
  await expect(load(server.url, 0.5)).rejects.toThrow("a request had no response");
});

test("the mixed workload has every list, and 10 % creates, a tenth of them with an idempotency key", () => {
  const requests = mixed.operations(restRequests).map((operation) => operation("name"));
  const creates = requests.filter(({ method }) => method === "POST");
  const repeatable = creates.filter(({ headers = {} }) => "idempotency-key" in headers);
  expect(creates.length / requests.length).toBe(0.1);
  expect(repeatable.length / creates.length).toBe(0.1);
  expect(new Set(requests.map(({ path }) => path)).size).toBe(1 + 21 * 4);
});

function load(origin: string, seconds: number) {
  return makeLoad({ origin, connections: 4, operations: [restRequests.create], apiKeys: ["key"], seconds });
}
