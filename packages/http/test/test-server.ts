import type { Socket } from "node:net";
import { Problem } from "@petstore/core";
import { openRawClient } from "@petstore/harness/network";
import express, { type NextFunction, type Request, type Response } from "express";
import { parseBody } from "../src/pipeline/body.js";
import { createRequest } from "../src/pipeline/http-request.js";
import { jsonReply, problemReply, type Reply } from "../src/pipeline/reply.js";
import { writeReply } from "../src/pipeline/write-reply.js";
import type { ServerLimits } from "../src/server/limits.js";
import { type ListenOptions, listen } from "../src/server/listen.js";
import { createHttpServer } from "../src/server/server.js";

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

  const write = (req: Request, res: Response, reply: Reply) =>
    writeReply(res, createRequest(req, res), { reply, quota: undefined }, undefined);

  const app = express();
  app.use((req, res, next) => {
    res.on("close", () => closed.push(`${req.method} ${req.url}`));
    const problem = createRequest(req, res).malformed;
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
    const body = await createRequest(req, res).readBody();
    write(req, res, jsonReply(201, `{"received":${parseBody(body)}}`));
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
  // Express recognises an error handler by its four parameters.
  app.use((thrown: unknown, req: Request, res: Response, _next: NextFunction) => {
    write(req, res, problemReply(Problem.from(thrown)));
  });

  const onError = (error: unknown) => void faults.push(error);
  const { server, drain } = createHttpServer(app, onError, { lingerMs: 100, ...limits });
  // A test does not end if a connection ends only because the time is up.
  const options = {
    host: "127.0.0.1",
    port: 0,
    drainTimeoutMs: 600_000,
    onError,
    ...draining,
    onDrain: drain,
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
