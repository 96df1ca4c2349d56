import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { isAnswering, openHttpClient } from "../src/network/http-client.js";
import { openRawClient } from "../src/network/raw-client.js";

async function listen(listener: RequestListener): Promise<AsyncDisposable & { server: Server; port: number }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { server, port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

it("sends a path and repeated headers unchanged, and reads the answer", async () => {
  await using service = await listen(({ url, rawHeaders }, response) => {
    const body = JSON.stringify({ url, sent: rawHeaders.filter((_, index) => rawHeaders[index - 1] === "x") });
    response.writeHead(429, { "X-RateLimit-Limit": 60, "X-RateLimit-Remaining": "0", "Retry-After": "7" });
    response.end(`${body.slice(0, -1)},"code":"RATE_LIMIT_EXCEEDED"}`);
  });
  using client = openHttpClient(`http://127.0.0.1:${service.port}`);
  const answer = await client.send("GET", "/a/../%zz?b=%20c", { headers: { x: ["1", "2"] } });
  expect(answer).toMatchObject({
    status: 429,
    code: "RATE_LIMIT_EXCEEDED",
    json: { url: "/a/../%zz?b=%20c", sent: ["1", "2"] },
    rateLimit: { limit: 60, remaining: 0, reset: Number.NaN },
    retryAfterSeconds: 7,
  });
  expect(answer.durationMs).toBeGreaterThan(0);
});

it("rejects when the answer is cut", async () => {
  await using service = await listen((_, response) => {
    response.writeHead(200, { "Content-Length": 100 }).write("{", () => response.destroy());
  });
  using client = openHttpClient(`http://127.0.0.1:${service.port}`);
  await expect(client.send("GET", "/")).rejects.toThrow();
});

it("tells whether a URL answers with success", async () => {
  const service = await listen(({ url }, response) => void response.writeHead(url === "/" ? 200 : 503).end());
  const origin = `http://127.0.0.1:${service.port}`;
  expect([await isAnswering(origin), await isAnswering(`${origin}/other`)]).toEqual([true, false]);
  await service[Symbol.asyncDispose]();
  expect(await isAnswering(origin)).toBe(false);
});

it("splits the answers of a connection, and keeps every header line", async () => {
  await using service = await listen(({ url }, response) => {
    response.setHeader("Set-Cookie", ["a=1", "b=2"]);
    response.end(url?.slice(1));
  });
  using client = openRawClient(service.port);
  await client.send(["first", "second"].map((path) => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""));
  await client.until(2);
  expect(client.answers().map(({ status, text }) => [status, text])).toEqual([
    [200, "first"],
    [200, "second"],
  ]);
  expect(client.answers()[0]?.fields.filter(([name]) => name === "set-cookie")).toHaveLength(2);
  expect(client.wasReset()).toBe(false);
});

it("tells when the server resets the connection", async () => {
  await using service = await listen((_, response) => void response.socket?.resetAndDestroy());
  using client = openRawClient(service.port);
  await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(1);
  expect([client.answers().length, client.wasReset()]).toEqual([0, true]);
});
