import { openRawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { failOnCrashes } from "./crash-watch.js";
import { startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const large = `GET /large HTTP/1.1\r\n${host}\r\n`;

failOnCrashes();

describe("outstanding requests of all connections", () => {
  it("leave each connection one request at the limit, and all of them below it", async () => {
    await using server = await startTestServer({ maxOutstandingRequests: 10 });
    const clients = Array.from({ length: 5 }, () => openRawClient(server.port));
    using first = openRawClient(server.port);
    first.write(slow.repeat(10));
    await expect.poll(() => server.handled).toHaveLength(10);
    for (const client of clients) client.write(slow.repeat(60));
    await expect.poll(() => server.handled).toHaveLength(15);
    server.release();
    await Promise.all([first, ...clients].map(({ closed }) => closed));
    for (const client of clients) {
      expect(client.answers().map(({ status, headers }) => [status, headers.connection])).toEqual([[200, "close"]]);
    }
    expect(first.answers().map(({ headers }) => headers.connection)).toEqual([...Array(9).fill("keep-alive"), "close"]);
    expect(server.handled).toHaveLength(15);
    using later = openRawClient(server.port);
    later.write(list.repeat(9));
    await later.received(9);
    expect(later.answers().map(({ headers }) => headers.connection)).toEqual(Array(9).fill("keep-alive"));
  });

  it.each([
    ["whose client resets the connection", slow.repeat(9)],
    ["whose client resets the connection in an answer", large + list.repeat(8)],
  ])("are no longer counted %s", async (_name, bytes) => {
    await using server = await startTestServer({ maxOutstandingRequests: 10 });
    for (let round = 1; round <= 5; round += 1) {
      const left = new Promise<void>((resolve) => {
        server.server.once("connection", (socket) => socket.once("close", () => resolve()));
      });
      using client = openRawClient(server.port);
      client.socket.pause();
      client.write(bytes);
      await expect.poll(() => server.handled).toHaveLength(9 * round);
      client.socket.resetAndDestroy();
      await left;
    }
    // Were one of them still counted, these would be too many.
    using other = openRawClient(server.port);
    other.write(slow.repeat(9));
    await expect.poll(() => server.handled).toHaveLength(9 * 6);
    server.release();
    await other.received(9);
    expect(other.answers().map(({ headers }) => headers.connection)).toEqual(Array(9).fill("keep-alive"));
  });

  it("are counted once, until they are answered", async () => {
    await using server = await startTestServer({ maxOutstandingRequests: 2 });
    using client = openRawClient(server.port);
    for (let answered = 1; answered <= 10; answered += 1) {
      client.write(list);
      await client.received(answered);
    }
    client.write(slow.repeat(5));
    await expect.poll(() => server.handled).toHaveLength(12);
    server.release();
    await client.closed;
    expect(client.answers().map(({ headers }) => headers.connection)).toEqual([
      ...Array(11).fill("keep-alive"),
      "close",
    ]);
  });
});

describe("connections of one client address", () => {
  it("are closed at once beyond the limit, and taken again after others have ended", async () => {
    await using server = await startTestServer({ maxConnectionsPerAddress: 2 });
    using first = openRawClient(server.port);
    using second = openRawClient(server.port);
    for (const client of [first, second]) {
      client.write(list);
      await client.received(1);
    }
    using third = openRawClient(server.port);
    third.write(list);
    await third.closed;
    expect(third.answers()).toEqual([]);
    expect(server.faults).toEqual([new Error("a client address has more than 2 connections")]);
    first.write(list);
    await first.received(2);
    first.socket.destroy();
    await expect.poll(() => statusOnNewConnection(server.port)).toBe(200);
  });

  it("have no limit where it is 0", async () => {
    await using server = await startTestServer({ maxConnectionsPerAddress: 0 });
    const clients = Array.from({ length: 20 }, () => openRawClient(server.port));
    for (const client of clients) client.write(list);
    await Promise.all(clients.map((client) => client.received(1)));
    for (const client of clients) client[Symbol.dispose]();
    expect(server.faults).toEqual([]);
  });
});

async function statusOnNewConnection(port: number): Promise<number | undefined> {
  using client = openRawClient(port);
  client.write(list);
  await Promise.race([client.received(1).catch(() => {}), client.closed]);
  return client.answers()[0]?.status;
}
