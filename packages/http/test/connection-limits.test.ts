import { describe, expect } from "vitest";
import { connectionHeaders, it, keptAlive, large, list, slow, statuses } from "./it.js";
import { startTestServer } from "./test-server.js";

describe("outstanding requests of all connections", () => {
  it("leave each connection two requests at the limit, and all of them below it", async () => {
    await using server = await startTestServer({ maxOutstandingRequests: 10 });
    const clients = Array.from({ length: 5 }, () => server.connect());
    using first = server.connect();
    first.write(slow.repeat(10));
    await expect.poll(() => server.handled).toHaveLength(10);
    for (const client of clients) client.write(slow.repeat(60));
    await expect.poll(() => server.handled).toHaveLength(20);
    server.release();
    await Promise.all([first, ...clients].map(({ closed }) => closed));
    const expected = [
      [200, 200],
      ["keep-alive", "close"],
    ];
    for (const client of clients) expect([statuses(client), connectionHeaders(client)]).toEqual(expected);
    expect(connectionHeaders(first)).toEqual([...keptAlive(9), "close"]);
    expect(server.handled).toHaveLength(20);
    using later = server.connect();
    later.write(list.repeat(9));
    await later.received(9);
    expect(connectionHeaders(later)).toEqual(keptAlive(9));
  });

  it("close no connection whose client waits for each response", async () => {
    await using server = await startTestServer({ maxOutstandingRequests: 10 });
    using busy = server.connect();
    busy.write(slow.repeat(10));
    await expect.poll(() => server.handled).toHaveLength(10);
    using client = server.connect();
    for (const sent of [1, 2, 3]) {
      client.write(list);
      await client.received(sent);
    }
    expect(connectionHeaders(client)).toEqual(keptAlive(3));
  });

  it("are no longer counted when their client resets the connection", async () => {
    await using server = await startTestServer({ maxOutstandingRequests: 10 });
    for (let round = 1; round <= 5; round += 1) {
      using client = server.connect();
      const left = server.nextClosed();
      client.socket.pause();
      client.write(large + list.repeat(8));
      await expect.poll(() => server.handled).toHaveLength(9 * round);
      client.socket.resetAndDestroy();
      await left;
    }
    // If one of them were still counted, these would be too many.
    using other = server.connect();
    other.write(slow.repeat(9));
    await expect.poll(() => server.handled).toHaveLength(9 * 6);
    server.release();
    await other.received(9);
    expect(connectionHeaders(other)).toEqual(keptAlive(9));
  });
});

it("connections of an address are closed at once beyond the limit, and accepted after others have ended", async () => {
  await using server = await startTestServer({ maxConnectionsPerAddress: 2 });
  using first = server.connect();
  using second = server.connect();
  for (const client of [first, second]) client.write(list);
  await Promise.all([first, second].map((client) => client.received(1)));
  using third = server.connect();
  third.write(list);
  await third.closed;
  expect(third.answers()).toEqual([]);
  expect(server.faults).toEqual([new Error("more than 2 connections of address:127.0.0.1")]);
  first.write(list);
  await first.received(2);
  first.socket.destroy();
  const tryAgain = async () => {
    using client = server.connect();
    client.write(list);
    await client.until(1);
    return statuses(client);
  };
  await expect.poll(tryAgain).toEqual([200]);
});

describe("a client that reads slowly", () => {
  const limits = { responseTimeoutMs: 200, timeoutCheckMs: 50 };

  it.each([
    ["does not read its response", { stallTimeoutMs: 50 }, 0, ""],
    ["reads its response in drops, though it is never idle", limits, 1_024, ""],
    ["reads its response in drops, though it sends further requests", limits, 1_024, list],
  ])("is cut off if it %s", async (_activity, limits, dropBytes, bytes) => {
    await using server = await startTestServer(limits);
    using client = server.connect();
    const left = server.nextClosed();
    client.socket.removeAllListeners("data");
    client.socket.pause();
    client.write(large);
    const timer = setInterval(() => {
      client.socket.read(dropBytes);
      client.write(bytes);
    }, 20);
    await left;
    clearInterval(timer);
    expect(client.socket.bytesRead).toBeLessThan(8 * 1_024 * 1_024);
    // It was not cut off because it had sent the last request that a connection may have.
    expect(server.handled.length).toBeLessThan(64);
  });

  it("is not cut off because the app takes long", async () => {
    await using server = await startTestServer({ responseTimeoutMs: 40, timeoutCheckMs: 20 });
    using client = server.connect();
    client.write(slow);
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.release();
    await client.received(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    client.write(list);
    await client.received(2);
    expect(statuses(client)).toEqual([200, 200]);
  });
});
