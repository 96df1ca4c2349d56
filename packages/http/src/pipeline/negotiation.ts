import { Problem } from "@petstore/core";
import type { Request, RequestHandler } from "express";
import { jsonMediaType } from "./problem-response.js";

const maxAcceptLength = 1_000;

/**
 * The media type that the request accepts most (RFC 9110 section 12.5.1), the first one when it accepts several equally,
 * or `undefined`.
 */
export function acceptedType(req: Request, mediaTypes: readonly string[]): string | undefined {
  const { accept } = req.headers;
  // A header longer than any client needs is ignored, as the RFC allows: the GraphQL API negotiates before
  // authentication, so parsing has to be cheap.
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return mediaTypes[0];
  return req.accepts([...mediaTypes]) || undefined;
}

/** Refuses a request that does not accept JSON (RFC 9110 section 12.5.1). */
export const acceptsJson: RequestHandler = (req, _res, next) => {
  if (req.headers.accept === "application/json" || acceptedType(req, [jsonMediaType]) !== undefined) {
    next();
    return;
  }
  throw new Problem("NOT_ACCEPTABLE");
};

/** Refuses every method that a resource does not have (RFC 9110 section 15.5.6). */
export function methodNotAllowed(...allowed: string[]): RequestHandler {
  const allow = allowed.join(", ");
  return (_req, res) => {
    res.setHeader("Allow", allow);
    throw new Problem("METHOD_NOT_ALLOWED", `Only ${allow} can be used here.`);
  };
}
