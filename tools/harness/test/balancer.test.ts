import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describeWithProgram } from "@petstore/harness";
import { startBalancer } from "@petstore/harness/network";
import { expect, it } from "vitest";

interface FakeService extends AsyncDisposable {
  readonly port: number;
  isReady: boolean;
}

/** Answers every request with its name, and `/readyz` with its state. */
async function startFakeService(name: string): Promise<FakeService> {
  const server: Server = createServer(({ url }, response) => {
    response.writeHead(url === "/readyz" && !service.isReady ? 503 : 200).end(name);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const service: FakeService = {
    port: (server.address() as AddressInfo).port,
    isReady: true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return service;
}

describeWithProgram("haproxy", "the balancer", () => {
  it("chooses the backend by the path, and leaves out a service that is not ready", async () => {
    await using first = await startFakeService("first rest");
    await using second = await startFakeService("second rest");
    await using graphql = await startFakeService("graphql");
    await using balancer = await startBalancer([
      { path: "/v1", ports: [first.port, second.port] },
      { path: "/graphql", ports: [graphql.port] },
    ]);
    const answers = async (path: string) => {
      const texts = [1, 2, 3, 4].map(async () => (await fetch(`${balancer.origin}${path}`)).text());
      return [...new Set(await Promise.all(texts))].sort();
    };
    expect(await answers("/graphql")).toEqual(["graphql"]);
    expect(await answers("/other")).toEqual(["first rest", "second rest"]);
    first.isReady = false;
    await balancer.untilUp(2);
    expect(await answers("/v1/pets")).toEqual(["second rest"]);
  });
});
