import { openHttpServer } from "@petstore/harness/network";
import { describe, expect, it, test } from "vitest";
import { makeLoad } from "./load.js";
import { type Operation, type PageRequest, restRequests } from "./requests.js";
import { browse } from "./workload.js";

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

describe("the browse workload", () => {
  it("has 60 % first pages, 20 % walks, 10 % deep pages and 10 % creates, each with an idempotency key", () => {
    const requests = browse.operations(restRequests).map((operation) => operation("name"));
    const share = (count: number) => count / requests.length;
    const creates = requests.filter(({ method }) => method === "POST");
    const deeper = requests.filter(({ path }) => path.includes("cursor="));
    expect(share(creates.length)).toBe(0.1);
    expect(creates.every(({ headers = {} }) => "idempotency-key" in headers)).toBe(true);
    expect(share(deeper.length)).toBe(0.3);
    // 84 first pages, the deep pages and those of the walkers are all different.
    expect(new Set(requests.map(({ path }) => path)).size).toBe(1 + 84 + 140 + 70);
  });

  it("lets each of 8 walkers read the whole catalogue", () => {
    const readsOf = new Map<number, number>();
    const list = ({ after = -1, ...page }: PageRequest): Operation => {
      readsOf.set(after, (readsOf.get(after) ?? 0) + 1);
      return restRequests.list(page);
    };
    const firstPages = 5 * 84;
    const walk = browse.operations({ ...restRequests, list })[firstPages];
    readsOf.clear();
    for (let step = 0; step < 8 * 5_000; step += 1) walk?.("name");
    expect([...readsOf.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 5_000 }, (_, page) => page * 20));
    expect(new Set(readsOf.values())).toEqual(new Set([8]));
  });
});

function load(origin: string, seconds: number) {
  return makeLoad({ origin, connections: 4, operations: [restRequests.create], apiKeys: ["key"], seconds });
}
