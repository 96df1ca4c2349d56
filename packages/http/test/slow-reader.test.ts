import { openRawClient } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { failOnCrashes } from "./crash-watch.js";
import { startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;

failOnCrashes();

it("cuts off a client that does not read its answer", async () => {
  await using server = await startTestServer({ stallTimeoutMs: 50 });
  const left = new Promise<void>((resolve) => {
    server.server.on("connection", (socket) => socket.once("close", () => resolve()));
  });
  using client = openRawClient(server.port);
  client.socket.pause();
  client.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
  await left;
});

it("cuts off a client that takes its answer in drops, though it is never idle", async () => {
  await using server = await startTestServer({ responseTimeoutMs: 200, timeoutCheckMs: 50 });
  const left = new Promise<void>((resolve) => {
    server.server.on("connection", (socket) => socket.once("close", () => resolve()));
  });
  using client = openRawClient(server.port);
  client.socket.removeAllListeners("data");
  client.socket.pause();
  const drip = setInterval(() => client.socket.read(1_024), 10);
  client.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
  await left;
  clearInterval(drip);
  expect(client.socket.bytesRead).toBeLessThan(8 * mebibyte);
});

it("cuts off a client that takes its answer in drops and pipelines a request now and then", async () => {
  await using server = await startTestServer({ responseTimeoutMs: 200, timeoutCheckMs: 50 });
  const left = new Promise<void>((resolve) => {
    server.server.on("connection", (socket) => socket.once("close", () => resolve()));
  });
  using client = openRawClient(server.port);
  client.socket.removeAllListeners("data");
  client.socket.pause();
  client.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
  const timer = setInterval(() => {
    client.socket.read(1_024);
    client.write(list);
  }, 20);
  await left;
  clearInterval(timer);
  // Not because it has sent the last request that a connection may have.
  expect(server.handled.length).toBeLessThan(64);
});

it("bounds the answer, not how long the app takes for it", async () => {
  await using server = await startTestServer({ responseTimeoutMs: 40, timeoutCheckMs: 20 });
  using client = openRawClient(server.port);
  client.write(slow);
  await new Promise((resolve) => setTimeout(resolve, 200));
  server.release();
  await client.received(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  client.write(list);
  await client.received(2);
  expect(client.answers().map(({ status }) => status)).toEqual([200, 200]);
});
