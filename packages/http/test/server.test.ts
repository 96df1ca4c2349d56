import { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { expect, it } from "vitest";
import { listen } from "../src/server/listen.js";
import { createHttpServer } from "../src/server/server.js";
import { answerPlainly } from "./test-server.js";

it("creates requests and responses with the prototypes that Express would swap in", async () => {
  const app = express();
  const httpServer = createHttpServer({ app, answerMalformedRequest: answerPlainly, onError: () => {} });
  const born: object[] = [];
  const handled: object[] = [];
  httpServer.server.prependListener("request", (request, response) => {
    born.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
  });
  app.use((request, response) => {
    handled.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    response.status(202).json({ ip: request.ip, path: request.path, app: request.app === app });
  });
  await using listener = await listen(httpServer, { host: "127.0.0.1", port: 0 });

  const response = await fetch(`${listener.url}/pets?limit=1`);
  expect(response.status).toBe(202);
  expect(await response.json()).toEqual({ ip: "127.0.0.1", path: "/pets", app: true });
  expect(born).toHaveLength(2);
  for (const [index, prototype] of born.entries()) expect(handled[index]).toBe(prototype);
  expect(born[0]).toBeInstanceOf(IncomingMessage);
  expect(born[1]).toBeInstanceOf(ServerResponse);

  const head = await fetch(`${listener.url}/pets`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([202, ""]);
});
