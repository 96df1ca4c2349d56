import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "@petstore/core";
import { openRawClient, type RawClient } from "@petstore/harness/network";
import express from "express";
import { readJson } from "../src/pipeline/body.js";
import { sendJson } from "../src/pipeline/json-response.js";
import { answerProblems } from "../src/pipeline/problem-response.js";
import { createRequestContext } from "../src/pipeline/request-context.js";
import { validateRequestMessage } from "../src/pipeline/validate-request-message.js";
import { type Listener, type ListenOptions, listen } from "../src/server/listen.js";
import { createHttpServer, type ServerLimits } from "../src/server/server.js";

export interface TestServer extends AsyncDisposable {
  readonly server: Server;
  readonly listener: Listener;
  /** Method and path of every request that reached the app. */
  readonly handled: readonly string[];
  /** The codes of the problems of what was no request. They are answered after 30 ms, as by a quota that takes its time. */
  readonly malformedRequests: readonly string[];
  /** Method and path of every request whose response is closed. */
  readonly closed: readonly string[];
  readonly faults: readonly unknown[];
  connect(): RawClient;
  /** Lets the requests waiting in `GET /slow` be answered. */
  release(): void;
  /** Resolves with the next connection that the server accepts, when the server has closed it. */
  nextClosed(): Promise<Socket>;
}

/**
 * A server with the routes that faults need: `POST /pets` reads a JSON number, `POST /refused` answers 413 without,
 * `GET /slow` waits for `release`, `GET /large` answers 8 MiB.
 */
export async function startTestServer(
  limits: Partial<ServerLimits> = {},
  draining: Pick<ListenOptions, "drainTimeoutMs" | "graceMs"> = {},
): Promise<TestServer> {
  const handled: string[] = [];
  const malformedRequests: string[] = [];
  const closed: string[] = [];
  const faults: unknown[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });

  const app = express();
  app.use((req, res, next) => {
    res.on("close", () => closed.push(`${req.method} ${req.url}`));
    res.locals.context = createRequestContext(req);
    const problem = validateRequestMessage(req);
    if (problem !== undefined && req.errored) {
      malformedRequests.push(problem.code);
      setTimeout(() => next(problem), 30);
      return;
    }
    handled.push(`${req.method} ${req.url}`);
    if (problem !== undefined) throw problem;
    next();
  });
  app.post("/pets", async (req, res) => {
    // As admission does, for its quota: a body can break off before it is read.
    await new Promise((resolve) => setImmediate(resolve));
    sendJson(res, 201, `{"received":${await readJson(req, res)}}`);
  });
  app.post("/refused", () => {
    throw new Problem("PAYLOAD_TOO_LARGE");
  });
  app.get("/slow", async (_req, res) => {
    await released;
    res.json({ slow: true });
  });
  app.get("/large", (_req, res) => void res.end(Buffer.alloc(8 * 1024 * 1024, "x")));
  app.get("/pets", (_req, res) => void res.json([]));
  app.use((req) => {
    throw new Problem("ROUTE_NOT_FOUND", `No ${req.method}.`);
  });
  const log = { info() {}, warn() {}, error() {} };
  app.use(answerProblems({ admission: { refund: async () => {} }, log }));

  const onError = (error: unknown) => void faults.push(error);
  const { server, connections } = createHttpServer(app, onError, { lingerMs: 100, ...limits });
  // A test does not end if a connection ends only because the time is up.
  const options = {
    host: "127.0.0.1",
    port: 0,
    drainTimeoutMs: 600_000,
    onError,
    ...draining,
    onDrain: connections.drain,
  };
  const listener = await listen(server, options);
  return {
    server,
    listener,
    handled,
    malformedRequests,
    closed,
    faults,
    connect: () => openRawClient(listener.port),
    release,
    nextClosed: () =>
      new Promise((resolve) => {
        server.once("connection", (socket) => socket.once("close", () => resolve(socket)));
      }),
    async [Symbol.asyncDispose]() {
      release();
      await listener[Symbol.asyncDispose]();
    },
  };
}
