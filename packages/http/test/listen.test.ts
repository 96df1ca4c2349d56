import { createServer } from "node:http";
import { afterEach, describe, expect, vi } from "vitest";
import { type ListenOptions, listen, untilSignal } from "../src/server/listen.js";
import { connectionHeaders, it, large, list, slow, statuses } from "./it.js";
import { startTestServer } from "./test-server.js";

afterEach(() => void vi.useRealTimers());

describe("an address that cannot be used", () => {
  const message = async (options: Partial<ListenOptions>) => {
    const listening = listen(createServer(), { host: "127.0.0.1", port: 0, onError() {}, ...options });
    return await listening.then(undefined, (error: Error) => error.message);
  };
  const metrics = { host: "METRICS_HOST", port: "METRICS_PORT" };

  it("is named in the message if its port is in use, with the variable and the remedy", async ({ server }) => {
    const { port } = server.listener;
    const start = `Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or set`;
    const otherPort = port === 65_535 ? 3_001 : port + 1;
    expect(await message({ port })).toBe(`${start} PORT to another port, such as ${otherPort}.`);
    expect(await message({ port, variables: metrics })).toBe(
      `${start} METRICS_PORT to another port, such as ${otherPort}.`,
    );
  });

  it.each(["192.0.2.1", "host.invalid"])(
    "is named with its variable if this machine has no address %s",
    async (host) => {
      const start = `Cannot listen on ${host} port 0:`;
      const remedy = (name: string) =>
        `${start} ${name} is not an address of this machine. Use ${name}=127.0.0.1, or 0.0.0.0 for all its addresses.`;
      expect(await message({ host })).toBe(remedy("HOST"));
      expect(await message({ host, variables: metrics })).toBe(remedy("METRICS_HOST"));
    },
  );
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
    using unused = server.connect();
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

  it("cuts requests that are not finished in time", async () => {
    await using server = await startTestServer({}, { drainTimeoutMs: 300 });
    using client = server.connect();
    using half = server.connect();
    client.write(slow);
    half.write("GET /pets HTTP/1.1\r\n");
    await expect.poll(() => server.handled).toHaveLength(1);
    await Promise.all([server.listener[Symbol.asyncDispose](), client.closed, half.closed]);
    expect(client.answers()).toEqual([]);
  });
});

it("each connection, old or new, gets one more response in the grace period, which lasts as long as it was set", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await using server = await startTestServer({}, { graceMs: 2_000 });
  using unused = server.connect();
  using kept = server.connect();
  kept.write(list);
  await kept.received(1);
  const drained = server.listener[Symbol.asyncDispose]();
  using opened = server.connect();
  opened.write(list);
  kept.write(list);
  await Promise.all([opened.closed, kept.closed]);
  expect(connectionHeaders(opened)).toEqual(["close"]);
  expect(connectionHeaders(kept)).toEqual(["keep-alive", "close"]);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(unused.isClosed()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all([drained, unused.closed]);
});

it("a connection whose client was told that it is kept stays open in the grace period", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await using server = await startTestServer({}, { graceMs: 2_000 });
  using client = server.connect();
  client.socket.pause();
  client.write(large);
  await expect.poll(() => server.handled).toHaveLength(1);
  const drained = server.listener[Symbol.asyncDispose]();
  client.socket.resume();
  await client.received(1);
  client.write(list);
  await client.received(2);
  expect(connectionHeaders(client)).toEqual(["keep-alive", "close"]);
  await vi.advanceTimersByTimeAsync(2_000);
  await drained;
});

it("a second signal ends the process at once, except a repetition of the first within 500 ms", async () => {
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
  vi.restoreAllMocks();
  process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT");
});
