import { setImmediate as turn } from "node:timers/promises";
import type { RawClient } from "@petstore/harness/network";
import { describe, expect } from "vitest";
import { connectionHeaders, create, host, it, keptAlive, list, sendAllThenRead, slow, statuses } from "./it.js";
import { startTestServer, type TestServer } from "./test-server.js";

const maxOutstanding = 64;

/** Lets slow requests be answered after the app has received 64 requests. It receives no others. */
async function expectLastAnswer(server: TestServer, client: RawClient): Promise<void> {
  await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
  server.release();
  await client.closed;
  expect(connectionHeaders(client)).toEqual([...keptAlive(maxOutstanding - 1), "close"]);
  expect([server.handled.length, server.malformedRequests, server.faults]).toEqual([maxOutstanding, [], []]);
}

describe("a connection with more than 64 outstanding requests", () => {
  it("is answered 64 times, the last time with Connection: close, and the app sees no further request", async ({
    server,
    client,
  }) => {
    let created = 0;
    server.server.prependListener("request", () => {
      created += 1;
    });
    client.write(list.repeat(2_500));
    await expectLastAnswer(server, client);
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
    expect(created).toBe(maxOutstanding);
  });

  it("still reads the body of the 64th request, which arrives later", async ({ server, client }) => {
    client.write(`${slow}${list.repeat(maxOutstanding - 2)}${create}Content-Length: 3\r\n\r\n`);
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    client.write(`123${list}`);
    await expectLastAnswer(server, client);
    expect(client.answers().at(-1)?.text).toBe('{"received":123}');
  });

  it.for([
    ["a malformed request", "GET/bad\r\n\r\n"],
    ["CONNECT", `CONNECT pets.example:443 HTTP/1.1\r\n${host}\r\n`],
    ["a request for an upgrade", `GET /pets HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ["a request that expects 100-continue", `${create}Expect: 100-continue\r\n\r\n`],
    ["headers that do not end", `GET /pets HTTP/1.1\r\n${host}`],
    ["a body that does not end", `${create}Content-Length: 9\r\n\r\n123`],
  ] as const)("drops %s behind the 64th request", async ([_name, bytes], { server, client }) => {
    client.write(slow + list.repeat(maxOutstanding - 1) + bytes);
    await expectLastAnswer(server, client);
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
  });

  it("is answered readably, though the client reads only after it has sent everything", async () => {
    await using server = await startTestServer({ lingerMs: 5_000 });
    using client = server.connect();
    await sendAllThenRead(client, list.repeat(100_000));
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
  });
});

it("a connection with 63 outstanding requests is kept", async ({ client }) => {
  client.write(list.repeat(maxOutstanding - 1));
  await client.received(maxOutstanding - 1);
  client.write(list);
  await client.received(maxOutstanding);
  expect(connectionHeaders(client)).toEqual(keptAlive(maxOutstanding));
});

it.for([
  [1, 60, 1],
  [100, 8, 32],
] as const)(
  "of %i connections with %i pipelined requests, at most %i start per turn of the event loop",
  async ([connections, pipelined, mostPerTurn]) => {
    await using server = await startTestServer();
    const clients = Array.from({ length: connections }, () => server.connect());
    for (const client of clients) client.write(slow);
    await expect.poll(() => server.handled).toHaveLength(connections);
    for (const client of clients) client.write(list.repeat(pipelined));
    const startsPerTurn: number[] = [];
    while (server.handled.length < connections * (1 + pipelined)) {
      const before = server.handled.length;
      await turn();
      startsPerTurn.push(server.handled.length - before);
    }
    expect(Math.max(...startsPerTurn)).toBe(mostPerTurn);
    server.release();
    for (const client of clients) {
      await client.received(1 + pipelined);
      client.socket.destroy();
    }
  },
);

it("a pipelined request whose connection closes before its turn is not handled", async ({ server, client }) => {
  let requests = 0;
  server.server.on("request", ({ socket }) => {
    requests += 1;
    if (requests === 10) socket.destroy();
  });
  client.write(list.repeat(10));
  await client.closed;
  using other = server.connect();
  other.write(list.repeat(2));
  await other.received(2);
  // The first request of each connection does not wait.
  expect(server.handled).toHaveLength(1 + 2);
});
