import { Problem } from "@petstore/core";
import type { Request, RequestHandler } from "express";
import { jsonMediaType } from "./problem-response.js";

const maxAcceptLength = 1_000;

/**
 * Which of the media types, the preferred one first, the request would accept most (RFC 9110 section 12.5.1);
 * `undefined` when none.
 */
export function acceptedType(req: Request, mediaTypes: readonly string[]): string | undefined {
  const { accept } = req.headers;
  // Nearly every client sends one of these. A longer header than any client needs is disregarded, as the RFC allows: the
  // GraphQL API negotiates before authentication, so negotiating has to be cheap.
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return mediaTypes[0];
  return req.accepts([...mediaTypes]) || undefined;
}

/** Refuses a request that would not accept the only media type there is (RFC 9110 section 12.5.1). */
export const acceptsJson: RequestHandler = (req, _res, next) => {
  if (req.headers.accept === "application/json" || acceptedType(req, [jsonMediaType]) !== undefined) {
    next();
    return;
  }
  throw new Problem("NOT_ACCEPTABLE");
};

/** The answer to every method a resource does not have (RFC 9110 section 15.5.6). */
export function methodNotAllowed(...allowed: string[]): RequestHandler {
  const allow = allowed.join(", ");
  return (_req, res) => {
    res.setHeader("Allow", allow);
    throw new Problem("METHOD_NOT_ALLOWED", `Only ${allow} can be used here.`);
  };
}
