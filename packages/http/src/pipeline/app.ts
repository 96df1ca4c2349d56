/**
 * The way of every request: from its message to one response, and one line in the log.
 *
 * 1. The request becomes a value (`http-request.ts`).
 * 2. Probes, malformed requests, preflight requests and static files are answered without a key.
 * 3. Any other request needs a ticket of admission. An unknown path needs a key and costs one unit, too.
 * 4. The handler of the resource returns a reply. A thrown problem becomes a reply here.
 * 5. `write-reply.ts` writes the reply.
 */
import { parse } from "node:querystring";
import { type Admission, type KeyWithAccount, type Log, Problem, type Ticket } from "@petstore/core";
import express, { type Express, type NextFunction, type Request, type Response } from "express";
import type { CompletedRequest } from "../observability/completed-request.js";
import { logFields } from "../observability/log.js";
import type { RequestMetrics } from "../observability/request-metrics.js";
import type { Tracing } from "../observability/tracing.js";
import { jsonMediaType } from "../server/media-types.js";
import { createRequest, type HttpRequest } from "./http-request.js";
import { type FindProbe, probePaths } from "./probes.js";
import { type Answer, type Failure, problemCodeOf, problemReply, type Reply } from "./reply.js";
import type { AcceptableRequest, Handler, Resource } from "./resource.js";
import type { FindFile } from "./static-files.js";
import { writeReply } from "./write-reply.js";

interface AppDeps {
  readonly admission: Admission;
  readonly findProbe: FindProbe;
  readonly answerPreflight: (request: HttpRequest) => Promise<Answer>;
  readonly findFile: FindFile;
  readonly log: Log;
  readonly metrics: Pick<RequestMetrics, "started" | "ended">;
  readonly tracing: Pick<Tracing, "startSpan"> | undefined;
  /** Milliseconds. */
  readonly monotonicNow: () => number;
}

/** What the log line needs to know about the response. Only this file writes it. */
interface Outcome {
  /** The record of the key, once it was checked. */
  key?: KeyWithAccount | undefined;
  reply?: Reply;
}

interface Route {
  /** For the log, the metrics and the traces. */
  readonly name: string;
  /** Its headers are on every response of the route. */
  readonly resource?: Resource;
  respond(outcome: Outcome): Promise<Answer>;
}

export function createApp(resources: readonly Resource[], deps: AppDeps): Express {
  const { admission, findProbe, answerPreflight, findFile, log, metrics, tracing, monotonicNow } = deps;

  /** Responds to the request, and reports it to log, metrics and traces when its response is closed. */
  function handle(req: Request, res: Response, resource?: Resource): void {
    const startedAtMs = monotonicNow();
    const request = createRequest(req, res, resource?.mediaTypes);
    const { id, method, scheme, clientAddress, trace } = request;
    const route = findRoute(request, resource);
    const span = tracing?.startSpan({
      method,
      scheme,
      clientAddress,
      path: request.path,
      userAgent: request.headers["user-agent"],
      traceparent: trace?.traceparent,
    });
    const outcome: Outcome = {};
    metrics.started(request);
    res.on("close", () => {
      const { key, reply } = outcome;
      const completed: CompletedRequest = {
        id,
        traceId: span?.traceId ?? trace?.traceId,
        clientAddress,
        method,
        scheme,
        route: route.name,
        status: res.headersSent ? res.statusCode : undefined,
        durationMs: monotonicNow() - startedAtMs,
        isAborted: !res.writableFinished,
        operation: reply?.operation,
        key,
        problemCode: reply && problemCodeOf(reply),
        isBrownout: reply?.isBrownout ?? false,
      };
      metrics.ended(completed);
      log.info(logFields(completed), "request completed");
      span?.end(completed);
    });
    const respond = () => void send(res, request, route, outcome);
    if (span === undefined) respond();
    else span.run(respond);
  }

  /** Probes are neither logged nor measured. Any other request to their paths has an unknown path. */
  function handleProbe(req: Request, res: Response): void {
    const request = createRequest(req, res);
    const respond = findProbe(request);
    if (respond === undefined) handle(req, res);
    else void send(res, request, { name: "probe", respond }, {});
  }

  async function send(res: Response, request: HttpRequest, route: Route, outcome: Outcome): Promise<void> {
    let answer: Answer;
    try {
      answer = await route.respond(outcome);
    } catch (error) {
      answer = { reply: problemReply(Problem.from(error)), quota: undefined };
    }
    outcome.reply = answer.reply;
    for (const problem of answer.reply.problems ?? []) logFault(request, problem);
    try {
      writeReply(res, request, answer, route.resource);
    } catch (error) {
      giveUp(res, error, request.id);
    }
  }

  /** The closed connection tells the client that it gets no response. */
  function giveUp(res: Response, error: unknown, requestId?: string): void {
    log.error({ requestId, error }, "could not write a response");
    res.destroy();
  }

  function findRoute(request: HttpRequest, resource: Resource | undefined): Route {
    const { malformed } = request;
    if (malformed !== undefined) {
      // The same response on all paths except probes: a malformed request is not a request to an API.
      const respond = async () => {
        const refusal = await admission.refuseMalformed(request.addressBucket, malformed);
        return refuse({}, refusal, refusal);
      };
      return { name: "malformed", respond };
    }
    if (request.method === "OPTIONS") {
      return { name: "preflight", respond: () => answerPreflight(request) };
    }
    if (resource !== undefined) {
      const respond = (outcome: Outcome) =>
        respondWithKey(request, outcome, resource, (ticket) => callHandler(resource, request, ticket));
      return { name: resource.path, resource, respond };
    }
    const answerFile = findFile(request);
    if (answerFile !== undefined) return { name: "static", respond: answerFile };
    const respond = (outcome: Outcome) =>
      respondWithKey(request, outcome, { charge: unknownPath }, () => ({ problem: new Problem("ROUTE_NOT_FOUND") }));
    return { name: "unmatched", respond };
  }

  async function respondWithKey(
    request: HttpRequest,
    outcome: Outcome,
    resource: Pick<Resource, "charge" | "limitKey" | "problemBody">,
    call: (ticket: Ticket) => ReturnType<typeof callHandler>,
  ): Promise<Answer> {
    const arrival = { token: request.readToken(), address: request.addressBucket };
    const ticket = await admission.admit(arrival, resource.charge);
    outcome.key = ticket.key;
    // A key that is not valid any more is limited by its address.
    const isValid = ticket.outcome === "admitted" || ticket.problem.status !== 401;
    const overLimit = isValid && ticket.key ? resource.limitKey?.(ticket.key.id) : undefined;
    if (overLimit !== undefined) return refuse(request, { problem: overLimit }, ticket, resource);
    if (ticket.outcome === "refused") return refuse(request, ticket, ticket, resource);
    let result: Reply | Failure;
    try {
      result = await call(ticket);
    } catch (error) {
      result = { problem: Problem.from(error) };
    }
    if (!("problem" in result)) {
      return { reply: result, quota: ticket.quota, announcedExpiry: ticket.announcedExpiry };
    }
    if (result.problem.code === "SERVICE_UNAVAILABLE" || result.isBrownout) {
      await ticket.refund().catch((error: unknown) => {
        log.error({ requestId: request.id, error }, "could not refund the units of a failed request");
      });
    }
    return refuse(request, result, ticket, resource);
  }

  /** A dependency that is unavailable or busy is no fault of ours, and in an outage every request has such a line. */
  function logFault({ id }: HttpRequest, { status, code, cause }: Problem): void {
    if (status < 500 || cause === undefined) return;
    const level = code === "SERVICE_UNAVAILABLE" ? "warn" : "error";
    log[level]({ requestId: id, code, error: cause }, "request failed");
  }

  const app = express();
  app.disable("x-powered-by");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  // Without `maxKeys: 0` the parser ignores all parameters after the thousandth.
  app.set("query parser", (text: string | null) => parse(text ?? "", "&", "=", { maxKeys: 0 }));
  for (const resource of resources) {
    app.route(expressPath(resource.path)).all((req, res) => handle(req, res, resource));
  }
  for (const path of probePaths) app.route(path).all(handleProbe);
  app.use((req, res) => handle(req, res));
  // Only a fault of this file leads here. Express recognises an error handler by its four parameters.
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => giveUp(res, error));
  return app;
}

/** The balancers send unknown paths to the REST API. */
const unknownPath = { api: "rest" } as const;

function callHandler(resource: Resource, request: HttpRequest, ticket: Ticket): Promise<Reply | Failure> | Failure {
  const handler = handlerOf(resource, request.method);
  if (handler === undefined) {
    const allowed = allowedMethods(resource);
    const problem = new Problem("METHOD_NOT_ALLOWED", `Only ${allowed} can be used here.`);
    return { problem, headers: { Allow: allowed } };
  }
  return isAcceptable(request) ? handler(request, ticket) : { problem: notAcceptable(resource) };
}

function isAcceptable(request: HttpRequest): request is AcceptableRequest {
  return request.mediaType !== undefined;
}

function notAcceptable({ mediaTypes = [jsonMediaType] }: Resource): Problem {
  const names = mediaTypes.map((mediaType) => mediaType.split(";", 1)[0]);
  return new Problem("NOT_ACCEPTABLE", `The Accept header excludes ${names.join(" and ")}.`);
}

function refuse(
  { mediaType = jsonMediaType }: { readonly mediaType?: string | undefined },
  { problem, operation, headers, isBrownout }: Failure,
  { quota, announcedExpiry }: Pick<Ticket, "quota" | "announcedExpiry">,
  { problemBody }: Pick<Resource, "problemBody"> = {},
): Answer {
  const reply = problemReply(problem, problemBody?.(problem, quota));
  const shown = { ...headers, "Content-Type": mediaType };
  return { reply: { ...reply, operation, isBrownout, headers: shown }, quota, announcedExpiry };
}

/**
 * The path for Express. Not `/v1/pets/:petId`: Express decodes parameters before admission, and throws if a path is not
 * percent-encoded UTF-8.
 */
function expressPath(path: string): string | RegExp {
  return path.includes("{") ? new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`) : path;
}

function handlerOf(resource: Resource, method: string): Handler | undefined {
  if (method === "GET" || method === "HEAD") return resource.GET;
  return method === "POST" ? resource.POST : undefined;
}

/** The value of the Allow header. */
function allowedMethods({ GET, POST }: Resource): string {
  return [...(GET ? ["GET", "HEAD"] : []), ...(POST ? ["POST"] : [])].join(", ");
}
