import type { Socket } from "node:net";
import { Problem } from "@petstore/core";
import { openRawClient } from "@petstore/harness/network";
import express from "express";
import { parseBody, readBody } from "../src/pipeline/body.js";
import { sendJson } from "../src/pipeline/json-response.js";
import { answerProblems } from "../src/pipeline/problem-response.js";
import { createRequestContext } from "../src/pipeline/request-context.js";
import type { ServerLimits } from "../src/server/limits.js";
import { type ListenOptions, listen } from "../src/server/listen.js";
import { createHttpServer } from "../src/server/server.js";
import { validateRequestMessage } from "../src/server/validate-request-message.js";

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

/**
 * A server with the routes that faults need: `POST /pets` reads a JSON number, `POST /refused` answers 413 without,
 * `GET /slow` waits for `release`, `GET /large` answers 8 MiB.
 */
export async function startTestServer(
  limits: Partial<ServerLimits> = {},
  draining: Pick<ListenOptions, "drainTimeoutMs" | "graceMs"> = {},
) {
  /** Method and path of every request that reached the app. */
  const handled: string[] = [];
  /** The codes of the problems of what was no request. They are answered after 30 ms, as by a quota that takes its time. */
  const malformedRequests: string[] = [];
  /** Method and path of every request whose response is closed. */
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
    sendJson(res, 201, `{"received":${parseBody(await readBody(req, res))}}`);
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
    /** Lets the requests waiting in `GET /slow` be answered. */
    release,
    /** Resolves with the next connection that the server accepts, when the server has closed it. */
    nextClosed: () =>
      new Promise<Socket>((resolve) => {
        server.once("connection", (socket) => socket.once("close", () => resolve(socket)));
      }),
    async [Symbol.asyncDispose]() {
      release();
      await listener[Symbol.asyncDispose]();
    },
  };
}
