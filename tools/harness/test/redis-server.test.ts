import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { describeWithRedis } from "@petstore/harness";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { expect, test } from "vitest";

/** A client that asks once and never tries again. */
function clientOf(url: string): Redis {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on("error", () => {});
  return client;
}

async function directoryOf(server: RedisServer): Promise<string> {
  const reply = await server.command("CONFIG", "GET", "dir");
  return Array.isArray(reply) ? String(reply[1]) : "";
}

/** True of a paused server, whose connections the system accepts; false of a dead one, collected or not. */
async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function firstLine(socket: Socket): Promise<string> {
  const [data] = await once(socket, "data");
  return String(data).trim();
}

describeWithRedis("a Redis server of the test's own", () => {
  test("listens on loopback alone, outside the ports of outgoing connections", async () => {
    await using server = await openRedisServer();
    expect(await server.command("CONFIG", "GET", "bind")).toEqual(["bind", "127.0.0.1"]);
    expect(server.port < 32_768 || server.port > 60_999).toBe(true);
    expect(server.url).toBe(`redis://127.0.0.1:${server.port}`);
  });

  test("refuses to evict, and takes further settings", async () => {
    await using server = await openRedisServer({ settings: { databases: "3" } });
    expect(await server.command("CONFIG", "GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    expect(await server.command("CONFIG", "GET", "databases")).toEqual(["databases", "3"]);
  });

  test("says why a server does not start", async () => {
    await expect(openRedisServer({ settings: { nonsense: "1" } })).rejects.toThrow("nonsense");
  });

  test("two servers share nothing", async () => {
    await using one = await openRedisServer();
    await using other = await openRedisServer();
    await one.command("SET", "pet", "cat");
    expect(await other.command("GET", "pet")).toBeNull();
  });

  test("disposing ends the process and leaves no file behind", async () => {
    const server = await openRedisServer();
    const directory = await directoryOf(server);
    await server.command("SET", "pet", "cat");
    expect(readdirSync(directory)).toEqual([]);
    await server[Symbol.asyncDispose]();
    expect(await isListening(server.port)).toBe(false);
    expect(existsSync(directory)).toBe(false);
    await server[Symbol.asyncDispose]();
  });

  test("disposing ends a paused process", async () => {
    const server = await openRedisServer();
    server.pause();
    await server[Symbol.asyncDispose]();
    expect(await isListening(server.port)).toBe(false);
  });

  test("killed, it refuses connections and commands", async () => {
    await using server = await openRedisServer();
    await server.kill();
    expect(server.state).toBe("killed");
    await expect(server.command("PING")).rejects.toThrow();
    const client = clientOf(server.url);
    await expect(client.ping()).rejects.toThrow();
    expect(() => server.pause()).toThrow("not running");
  });

  test("restarted, it answers on the same port and is empty", async () => {
    await using server = await openRedisServer();
    await server.command("SET", "pet", "cat");
    const { url } = server;
    await server.restart();
    expect(server.url).toBe(url);
    expect(server.state).toBe("running");
    const client = clientOf(url);
    expect(await client.get("pet")).toBeNull();
    client.disconnect();
  });

  test("restarts from a pause", async () => {
    await using server = await openRedisServer();
    server.pause();
    await server.restart();
    expect(await server.command("PING")).toBe("PONG");
  });

  test("paused, it accepts connections and answers nothing until it is resumed", async () => {
    await using server = await openRedisServer();
    server.pause();
    expect(server.state).toBe("paused");
    const socket = connect({ host: "127.0.0.1", port: server.port });
    await once(socket, "connect");
    let answered = false;
    const answer = firstLine(socket).finally(() => {
      answered = true;
    });
    socket.write("INCR late\r\n");
    const own = server.command("PING");
    expect(await Promise.race([own, new Promise((resolve) => setTimeout(resolve, 100, "silence"))])).toBe("silence");
    expect(answered).toBe(false);
    server.resume();
    expect(await answer).toBe(":1");
    expect(await own).toBe("PONG");
    socket.destroy();
  });

  test("commands reach it after a test has cut every connection", async () => {
    await using server = await openRedisServer();
    await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no").catch(() => {});
    expect(await server.command("PING")).toBe("PONG");
  });

  test("its own commands leave no traces among those that a test counts", async () => {
    await using server = await openRedisServer();
    await server.command("CONFIG", "RESETSTAT");
    await server.command("EVAL", "return 1", 0);
    const names = String(await server.command("INFO", "commandstats")).match(/^cmdstat_[^:]+/gm);
    expect(names?.sort()).toEqual(["cmdstat_config|resetstat", "cmdstat_eval"]);
  });

  test("ends with the process that opened it, even when that is killed and it is paused", async () => {
    const script = `
      import { openRedisServer } from ${JSON.stringify(import.meta.resolve("@petstore/harness/redis"))};
      const server = await openRedisServer();
      const [, directory] = await server.command("CONFIG", "GET", "dir");
      server.pause();
      process.stdout.write(JSON.stringify({ port: server.port, directory }));
    `;
    const owner = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(owner.stdout, "data");
    const { port, directory } = JSON.parse(String(line));
    expect(await isListening(port)).toBe(true);
    owner.kill("SIGKILL");
    await expect.poll(() => isListening(port)).toBe(false);
    await expect.poll(() => existsSync(directory)).toBe(false);
  });
});
