import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Request, Response } from "express";
import { afterEach, describe, expect, it } from "vitest";
import { createTurns } from "../src/turns.js";

describe("requests that come together", () => {
  it("go on so many in a turn of the event loop, in the order they came", async () => {
    const { come, wentOn } = scene(3);
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) come(name);
    expect(wentOn).toEqual(["a", "b", "c"]);
    await setImmediate();
    expect(wentOn).toEqual(["a", "b", "c", "d", "e", "f"]);
    await setImmediate();
    expect(wentOn).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });

  it("are not overtaken by one that comes while they wait", async () => {
    const { come, wentOn } = scene(1);
    come("a");
    come("b");
    come("c");
    await setImmediate();
    come("d");
    expect(wentOn).toEqual(["a", "b"]);
    await setImmediate();
    await setImmediate();
    expect(wentOn).toEqual(["a", "b", "c", "d"]);
  });

  it("go on at once where no more of them come in a turn", async () => {
    const { come, wentOn } = scene(2);
    for (const name of ["a", "b", "c", "d"]) {
      come(name);
      expect(wentOn).toContain(name);
      await setImmediate();
    }
  });

  it("do not go on once their client has gone", async () => {
    const { come, wentOn } = scene(1);
    const socket = { destroyed: false };
    come("a");
    come("b", socket);
    come("c");
    socket.destroyed = true;
    await setImmediate();
    await setImmediate();
    expect(wentOn).toEqual(["a", "c"]);
  });

  it("say how long the first of them has waited, for as long as one does", async () => {
    const { come, waitedMs } = scene(1);
    come("a");
    expect(waitedMs()).toBe(0);
    come("b");
    const endMs = performance.now() + 20;
    while (performance.now() < endMs);
    come("c");
    expect(waitedMs()).toBeGreaterThanOrEqual(20);
    await setImmediate();
    expect(waitedMs()).toBeGreaterThan(0);
    await setImmediate();
    expect(waitedMs()).toBe(0);
  });
});

describe("requests of one connection", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** Answers each with its number, once it may go on. */
  async function listen(): Promise<{ port: number; most: () => number; begun: () => number }> {
    const { take } = createTurns({ requestsPerTurn: 1 });
    let [came, begun, most] = [0, 0, 0];
    server = createServer((incoming, response) => {
      came += 1;
      most = Math.max(most, came - begun);
      take(incoming as Request, response as Response, () => {
        begun += 1;
        response.end(`${begun}`);
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return { port: (server.address() as AddressInfo).port, most: () => most, begun: () => begun };
  }

  it("sent before the answers to those before are all answered, and are not read while they would only wait", async () => {
    const { port, most, begun } = await listen();
    const socket = connect(port, "127.0.0.1");
    const line = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    socket.write(line.repeat(20_000));
    for await (const _ of socket) if (begun() === 20_000) break;
    expect(begun()).toBe(20_000);
    // What fits into one read of 64 KiB.
    expect(most()).toBeLessThan(2 * Math.ceil(65_536 / line.length));
  });
});

function scene(requestsPerTurn: number) {
  const { take, waitedMs } = createTurns({ requestsPerTurn });
  const wentOn: string[] = [];
  const come = (name: string, socket = { destroyed: false }) => {
    void take({ socket } as Request, {} as Response, () => void wentOn.push(name));
  };
  return { come, wentOn, waitedMs };
}
