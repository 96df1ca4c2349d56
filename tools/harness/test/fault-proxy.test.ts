import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type FaultProxy, openFaultProxy } from "@petstore/harness/network";
import { expect, test } from "vitest";

/** Answers every chunk with itself and remembers what it got. */
interface Echo extends AsyncDisposable {
  readonly url: string;
  readonly received: string[];
  close(): Promise<void>;
}

async function openEcho(): Promise<Echo> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.on("data", (chunk) => {
      received.push(String(chunk));
      socket.write(chunk);
    });
  });
  await once(server.listen({ host: "127.0.0.1", port: 0 }), "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `echo://user:secret@127.0.0.1:${port}/pets`, received, close, [Symbol.asyncDispose]: close };
}

interface Caller {
  readonly socket: Socket;
  say(text: string): void;
  /** The next chunk, or how the connection ended. */
  hear(): Promise<string>;
}

async function call(proxy: FaultProxy): Promise<Caller> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(proxy.url).port), noDelay: true });
  const heard: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  const push = (text: string): void => {
    const next = waiting.shift();
    if (next) next(text);
    else heard.push(text);
  };
  socket.on("data", (chunk) => push(String(chunk)));
  socket.on("end", () => push("end"));
  socket.on("error", (error: NodeJS.ErrnoException) => push(error.code ?? error.message));
  await once(socket, "connect");
  return {
    socket,
    say: (text) => socket.write(text),
    hear: () => {
      const next = heard.shift();
      return next === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(next);
    },
  };
}

async function silence(caller: Caller): Promise<boolean> {
  const quiet = new Promise((resolve) => setTimeout(resolve, 50, "silence"));
  return (await Promise.race([caller.hear(), quiet])) === "silence";
}

test("passes everything on, under the server's URL with another port", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  expect(proxy.url).toMatch(/^echo:\/\/user:secret@127\.0\.0\.1:\d+\/pets$/);
  expect(proxy.url).not.toBe(echo.url);
  const caller = await call(proxy);
  caller.say("cat");
  expect(await caller.hear()).toBe("cat");
  caller.socket.end();
  expect(await caller.hear()).toBe("end");
});

test("a black hole accepts, swallows, and never answers", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const before = await call(proxy);
  await proxy.blackHole();
  const during = await call(proxy);
  before.say("cat");
  during.say("dog");
  expect(await Promise.all([silence(before), silence(during)])).toEqual([true, true]);
  expect(echo.received).toEqual([]);
});

test("a black hole hides the end of the server", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const caller = await call(proxy);
  caller.say("cat");
  await caller.hear();
  await proxy.blackHole();
  await echo.close();
  expect(await silence(caller)).toBe(true);
});

test("restoring resets the connections that lost something, and keeps the others", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const [idle, cut] = [await call(proxy), await call(proxy)];
  await proxy.blackHole();
  cut.say("cat");
  await silence(cut);
  await proxy.restore();
  await expect.poll(() => cut.socket.destroyed).toBe(true);
  idle.say("bird");
  expect(await idle.hear()).toBe("bird");
});

test("a delay holds requests back and keeps their order, also when it ends", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const caller = await call(proxy);
  await proxy.delay(80);
  const sentMs = performance.now();
  caller.say("cat");
  await silence(caller);
  await proxy.restore();
  caller.say("dog");
  await expect.poll(() => echo.received.join("")).toBe("catdog");
  expect(performance.now() - sentMs).toBeGreaterThanOrEqual(79);
});

test("a dropped reply is lost after the request was executed", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const caller = await call(proxy);
  await proxy.dropReplies();
  caller.say("cat");
  expect(await caller.hear()).toBe("ECONNRESET");
  expect(echo.received).toEqual(["cat"]);
  await proxy.restore();
  const next = await call(proxy);
  next.say("dog");
  expect(await next.hear()).toBe("dog");
});

test("refusing resets what is open and refuses what comes, until it is restored on the same port", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const { url } = proxy;
  const caller = await call(proxy);
  caller.say("cat");
  await caller.hear();
  await proxy.refuse();
  expect(await caller.hear()).toBe("ECONNRESET");
  await expect(call(proxy)).rejects.toThrow("ECONNREFUSED");
  await proxy.restore();
  expect(proxy.url).toBe(url);
  const next = await call(proxy);
  next.say("dog");
  expect(await next.hear()).toBe("dog");
});

test("resetting all cuts the connections of the moment and no later one", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  const callers = [await call(proxy), await call(proxy)];
  for (const caller of callers) {
    caller.say("cat");
    await caller.hear();
  }
  proxy.resetAll();
  expect(await Promise.all(callers.map((caller) => caller.hear()))).toEqual(["ECONNRESET", "ECONNRESET"]);
  const next = await call(proxy);
  next.say("dog");
  expect(await next.hear()).toBe("dog");
});

test("while the server is gone, connections are accepted and reset", async () => {
  await using echo = await openEcho();
  await using proxy = await openFaultProxy(echo);
  await echo.close();
  const caller = await call(proxy);
  expect(await caller.hear()).toBe("ECONNRESET");
});

test("a disposed proxy does not come back", async () => {
  await using echo = await openEcho();
  const proxy = await openFaultProxy(echo);
  await proxy[Symbol.asyncDispose]();
  await expect(proxy.restore()).rejects.toThrow("disposed");
  await expect(call(proxy)).rejects.toThrow("ECONNREFUSED");
  await proxy[Symbol.asyncDispose]();
});
