import { type Log, Problem, type ProblemCode } from "@petstore/core";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import type { Admission } from "./admission.js";
import { sendJson } from "./json-response.js";
import { contextOf } from "./request-context.js";

/**
 * The last handler of an API. Turns a thrown value into one response, or closes the connection if a response has begun.
 * `format` returns the body, by default the schema `Error` of the REST API. It can read the headers of the response.
 */
export function answerProblems(
  { admission, log }: { readonly admission: Pick<Admission, "refund">; readonly log: Log },
  format: (problem: Problem, res: Response) => string = (problem) => JSON.stringify(problem),
): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return async (thrown, _req, res, _next) => {
    // decodeURIComponent throws a URIError for a path that is not percent-encoded UTF-8: no resource has such a path.
    const problem = thrown instanceof URIError ? new Problem("ROUTE_NOT_FOUND") : Problem.from(thrown);
    const context = contextOf(res);
    context.problemCode = problem.code;
    if (problem.status >= 500 && problem.cause !== undefined) {
      log.error({ requestId: context.id, code: problem.code, error: problem.cause }, "request failed");
    }
    if (res.headersSent) {
      // The closed connection tells the client that the response is incomplete.
      res.destroy();
      return;
    }
    if (problem.code === "SERVICE_UNAVAILABLE") {
      await admission.refund(res).catch((error: unknown) => {
        log.error({ requestId: context.id, error }, "could not refund the units of a failed request");
      });
    }
    setProblemHeaders(res, problem);
    addHelpLink(res, problem.code);
    sendJson(res, problem.status, format(problem, res));
  };
}

export function setProblemHeaders(res: Response, problem: Problem): void {
  const challenge = challengeOf(problem);
  if (challenge !== undefined) res.setHeader("WWW-Authenticate", challenge);
  if (problem.retryAfterSeconds !== undefined) res.setHeader("Retry-After", `${problem.retryAfterSeconds}`);
}

/** RFC 6750 section 3 has no error code for a suspended account. */
function challengeOf({ code, status }: Problem): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const realm = 'Bearer realm="petstore"';
  if (code === "API_KEY_MISSING" || code === "ACCOUNT_SUSPENDED") return realm;
  return `${realm}, error="${code === "INSUFFICIENT_SCOPE" ? "insufficient_scope" : "invalid_token"}"`;
}

/** The link (RFC 8288) is relative, so it works at any address of the service. */
export function addHelpLink(res: Response, code: ProblemCode): void {
  res.links({ help: `/docs/errors#${code}` });
}

export function methodNotAllowed(...allowed: string[]): RequestHandler {
  const allow = allowed.join(", ");
  return (_req, res) => {
    res.setHeader("Allow", allow);
    throw new Problem("METHOD_NOT_ALLOWED", `Only ${allow} can be used here.`);
  };
}
