import { createServer } from "node:http";
import { openRawClient } from "@petstore/harness/network";
import { afterEach, describe, expect, it, vi } from "vitest";
import { listen, untilSignal } from "../src/server/listen.js";
import { startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;

describe("listen", () => {
  it("says where it listens", async () => {
    await using server = await startTestServer();
    expect(server.listener.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await fetch(`${server.listener.url}/pets`)).status).toBe(200);
  });

  it.each([
    ["0.0.0.0", "localhost"],
    ["::1", "[::1]"],
  ])("on %s names %s in its URL", async (address, inUrl) => {
    await using listener = await listen({ server: createServer() }, { host: address, port: 0 });
    expect(listener.url).toBe(`http://${inUrl}:${listener.port}`);
  });

  it("names the address and the way out when the port is taken", async () => {
    await using first = await startTestServer();
    await expect(listen({ server: createServer() }, { host: "127.0.0.1", port: first.port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1 port ${first.port}: another program listens there. Stop it, or choose another port.`,
    );
  });

  it.each([
    ["192.0.2.1", 0, /^Cannot listen on 192\.0\.2\.1 port 0: that host is not an address of this machine\./],
    ["127.0.0.1", 70_000, /^Cannot listen on 127\.0\.0\.1 port 70000: a port is a number from 0 to 65535\.$/],
  ])("explains %s port %i", async (address, port, message) => {
    await expect(listen({ server: createServer() }, { host: address, port })).rejects.toThrow(message);
  });
});

describe("the end of a listener", () => {
  it("closes idle connections, used and unused, at once", async () => {
    await using server = await startTestServer();
    using used = openRawClient(server.port);
    using unused = openRawClient(server.port);
    used.write(list);
    await used.received(1);
    const startedAtMs = performance.now();
    await server.listener[Symbol.asyncDispose]();
    await Promise.all([used.closed, unused.closed]);
    expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  });

  it("completes every pipelined request in flight, the last with Connection: close", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow + slow);
    await expect.poll(() => server.handled).toHaveLength(2);
    const drained = server.listener[Symbol.asyncDispose]();
    client.write(list);
    await expect.poll(() => server.handled).toHaveLength(3);
    server.release();
    await Promise.all([client.closed, drained]);
    expect(client.answers().map(({ status, headers }) => [status, headers.connection])).toEqual([
      [200, "keep-alive"],
      [200, "keep-alive"],
      [200, "close"],
    ]);
  });

  it("accepts no further connection while it waits", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow);
    await expect.poll(() => server.handled).toHaveLength(1);
    const drained = server.listener[Symbol.asyncDispose]();
    await expect(fetch(`${server.listener.url}/pets`)).rejects.toThrow();
    server.release();
    await Promise.all([client.received(1), drained]);
  });

  it("does not cut a response that a client is still reading", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.socket.pause();
    client.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
    await expect.poll(() => server.handled).toHaveLength(1);
    const drained = server.listener[Symbol.asyncDispose]();
    client.socket.resume();
    await Promise.all([client.closed, drained]);
    expect(client.answers()).toHaveLength(1);
  });

  it("cuts what is not finished in time, and can be asked for twice", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    using half = openRawClient(server.port);
    client.write(slow);
    half.write("GET /pets HTTP/1.1\r\n");
    await expect.poll(() => server.handled).toHaveLength(1);
    const first = server.listener[Symbol.asyncDispose]();
    expect(server.listener[Symbol.asyncDispose]()).toBe(first);
    await Promise.all([first, client.closed, half.closed]);
    expect(client.answers()).toEqual([]);
  });
});

describe("the grace before the end", () => {
  const graceMs = 250;

  it("still takes requests, on old and new connections, each the last one of its connection", async () => {
    let isTold = false;
    await using server = await startTestServer({}, undefined, {
      graceMs,
      onDrain: () => {
        isTold = true;
      },
    });
    using kept = openRawClient(server.port);
    kept.write(list);
    await kept.received(1);
    const drained = server.listener[Symbol.asyncDispose]();
    expect(isTold).toBe(true);
    using opened = openRawClient(server.port);
    opened.write(list);
    kept.write(list);
    await Promise.all([opened.closed, kept.closed]);
    expect(opened.answers().map(({ status, headers }) => [status, headers.connection])).toEqual([[200, "close"]]);
    expect(kept.answers().map(({ status, headers }) => [status, headers.connection])).toEqual([
      [200, "keep-alive"],
      [200, "close"],
    ]);
    await drained;
  });

  it("closes no connection under a client that was told it is kept, until it is over", async () => {
    // Longer than the client takes to read 8 MiB.
    await using server = await startTestServer({}, undefined, { graceMs: 6_000 });
    using client = openRawClient(server.port);
    client.socket.pause();
    client.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
    await expect.poll(() => server.handled).toHaveLength(1);
    const drained = server.listener[Symbol.asyncDispose]();
    client.socket.resume();
    await client.received(1);
    client.write(list);
    await client.received(2);
    expect(client.answers().map(({ headers }) => headers.connection)).toEqual(["keep-alive", "close"]);
    await drained;
  });

  it("takes as long as it was set, and then closes what is idle at once", async () => {
    await using server = await startTestServer({}, undefined, { graceMs });
    using unused = openRawClient(server.port);
    const startedAtMs = performance.now();
    await server.listener[Symbol.asyncDispose]();
    await unused.closed;
    const tookMs = performance.now() - startedAtMs;
    expect(tookMs).toBeGreaterThanOrEqual(graceMs - 5);
    expect(tookMs).toBeLessThan(graceMs + 5_000);
  });
});

describe("untilSignal", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT");
  });

  it("resolves at the first signal, overlooks its echo and exits at the second", async () => {
    vi.useFakeTimers();
    const exit = vi.spyOn(process, "exit").mockImplementation((() => {}) as typeof process.exit);
    const signal = untilSignal();
    process.emit("SIGINT", "SIGINT");
    expect(await signal).toBe("SIGINT");
    process.emit("SIGINT", "SIGINT");
    expect(exit).not.toHaveBeenCalled();
    vi.advanceTimersByTime(501);
    process.emit("SIGTERM", "SIGTERM");
    expect(exit).toHaveBeenCalledExactlyOnceWith(143);
  });
});
