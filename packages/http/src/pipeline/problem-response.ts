import { type Log, Problem } from "@petstore/core";
import type { ErrorRequestHandler, Response } from "express";
import { giveBack } from "./admission.js";
import { challenge } from "./credentials.js";
import { contextOf } from "./request-context.js";

/** How an API writes a problem down, as JSON text. */
export type ProblemFormat = (problem: Problem) => string;

/** The contract's Error shape: `{code, message, status}`. */
export const errorShape: ProblemFormat = (problem) => JSON.stringify(problem);

/** The last handler of an API: whatever was thrown becomes one answer, logged once where the fault is ours. */
export function answerProblems(log: Log, format: ProblemFormat): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return async (thrown, _req, res, _next) => {
    const problem = toProblem(thrown);
    const context = contextOf(res);
    context.problem = problem.code;
    if (problem.status >= 500) {
      log.error({ requestId: context.id, code: problem.code, error: problem.cause }, "request failed");
    }
    if (res.headersSent) {
      // Half an answer cannot be taken back; cutting it off tells the client that it is not whole.
      res.destroy();
      return;
    }
    if (problem.code === "SERVICE_UNAVAILABLE") {
      await giveBack(res).catch((error: unknown) => {
        log.error({ requestId: context.id, error }, "could not give the units of a failed request back");
      });
    }
    for (const [name, value] of problemHeaders(problem)) res.setHeader(name, value);
    sendJson(res, problem.status, format(problem));
  };
}

/** What a problem adds to the header section, whichever API answers it. */
export function problemHeaders(problem: Problem): [name: string, value: string][] {
  const headers: [string, string][] = [];
  if (problem.status === 401) headers.push(["WWW-Authenticate", challenge(problem)]);
  if (problem.retryAfterSeconds !== undefined) headers.push(["Retry-After", `${problem.retryAfterSeconds}`]);
  return headers;
}

export const jsonMediaType = "application/json; charset=utf-8";

/**
 * Writes the head and the body at once, past Express's `res.json`, which would serialize again and compute an ETag. A
 * Content-Type that the API has negotiated stays.
 */
export function sendJson(res: Response, status: number, text: string): void {
  res.statusCode = status;
  if (!res.hasHeader("Content-Type")) res.setHeader("Content-Type", jsonMediaType);
  // Node tells the length of what it sends, and to HEAD it sends nothing (RFC 9110 section 9.3.2).
  if (res.req.method === "HEAD") res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

/** Express's router throws a URIError for a path that is not percent-encoded UTF-8: no resource has such a path. */
function toProblem(thrown: unknown): Problem {
  return thrown instanceof URIError ? new Problem("ROUTE_NOT_FOUND") : Problem.from(thrown);
}
