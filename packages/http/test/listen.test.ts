import { createServer } from "node:http";
import { openRawClient } from "@petstore/harness/network";
import { afterEach, describe, expect, vi } from "vitest";
import { listen, untilSignal } from "../src/server/listen.js";
import { connectionHeaders, it, large, list, slow, statuses } from "./it.js";
import { startTestServer } from "./test-server.js";

describe("listen", () => {
  const onError = () => {};

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "localhost"],
    ["::1", "[::1]"],
  ])("on %s names %s in its URL", async (address, inUrl) => {
    await using listener = await listen(createServer(), { host: address, port: 0, onError });
    expect(listener.url).toBe(`http://${inUrl}:${listener.port}`);
  });

  it.for([
    ["another program listens there. Stop it, or choose another port.", "127.0.0.1", undefined],
    ["that host is not an address of this machine.", "192.0.2.1", 0],
  ] as const)("names the address, and explains: %s", async ([advice, host, port], { server }) => {
    const options = { host, port: port ?? server.port, onError };
    const message = `Cannot listen on ${host} port ${options.port}: ${advice}`;
    await expect(listen(createServer(), options)).rejects.toThrow(message);
  });
});

it("an error while a connection is accepted is reported, and the server goes on", async ({ server, client }) => {
  const error = new Error("accept EMFILE");
  server.server.emit("error", error);
  expect(server.faults).toEqual([error]);
  client.write(list);
  await client.received(1);
});

describe("the end of a listener", () => {
  it("closes idle connections, used and unused", async ({ server, client }) => {
    using unused = openRawClient(server.port);
    client.write(list);
    await client.received(1);
    await server.listener[Symbol.asyncDispose]();
    await Promise.all([client.closed, unused.closed]);
  });

  it("completes every request in flight, the last with Connection: close, and accepts no connection", async ({
    server,
    client,
  }) => {
    client.write(slow + slow);
    await expect.poll(() => server.handled).toHaveLength(2);
    const drained = server.listener[Symbol.asyncDispose]();
    await expect(fetch(`${server.listener.url}/pets`)).rejects.toThrow();
    client.write(list);
    await expect.poll(() => server.handled).toHaveLength(3);
    server.release();
    await Promise.all([client.closed, drained]);
    expect(statuses(client)).toEqual([200, 200, 200]);
    expect(connectionHeaders(client)).toEqual(["keep-alive", "keep-alive", "close"]);
  });

  it("does not cut a response that a client is still reading", async ({ server, client }) => {
    client.socket.pause();
    client.write(large);
    await expect.poll(() => server.handled).toHaveLength(1);
    const drained = server.listener[Symbol.asyncDispose]();
    client.socket.resume();
    await Promise.all([client.closed, drained]);
    expect(client.answers()).toHaveLength(1);
  });

  it("cuts requests that are not finished in time, and can be called twice", async () => {
    await using server = await startTestServer({}, { drainTimeoutMs: 300 });
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

describe("the grace period before the end", () => {
  const graceMs = 2_000;

  it("lasts as long as it was set: each connection, old or new, gets one more response", async () => {
    let isTold = false;
    const onDrain = () => {
      isTold = true;
    };
    await using server = await startTestServer({}, { graceMs, onDrain });
    using unused = openRawClient(server.port);
    using kept = openRawClient(server.port);
    kept.write(list);
    await kept.received(1);
    const startedAtMs = performance.now();
    const drained = server.listener[Symbol.asyncDispose]();
    expect(isTold).toBe(true);
    using opened = openRawClient(server.port);
    opened.write(list);
    kept.write(list);
    await Promise.all([opened.closed, kept.closed]);
    expect(connectionHeaders(opened)).toEqual(["close"]);
    expect(connectionHeaders(kept)).toEqual(["keep-alive", "close"]);
    await Promise.all([drained, unused.closed]);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(graceMs - 5);
  });

  it("closes no connection whose client was told that it is kept, until it is over", async () => {
    // Longer than the client takes to read 8 MiB.
    await using server = await startTestServer({}, { graceMs: 6_000 });
    using client = openRawClient(server.port);
    client.socket.pause();
    client.write(large);
    await expect.poll(() => server.handled).toHaveLength(1);
    const drained = server.listener[Symbol.asyncDispose]();
    client.socket.resume();
    await client.received(1);
    client.write(list);
    await client.received(2);
    expect(connectionHeaders(client)).toEqual(["keep-alive", "close"]);
    await drained;
  });
});

describe("untilSignal", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT");
  });

  it("resolves at the first signal, ignores its repetition and exits at the second", async () => {
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
