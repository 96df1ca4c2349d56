import { Problem } from "@petstore/core";
import type { RequestHandler } from "express";
import { jsonMediaType } from "./problem-response.js";

/** Refuses a request that would not accept the only media type there is (RFC 9110 section 12.5.1). */
export const acceptsJson: RequestHandler = (req, _res, next) => {
  const accept = req.headers.accept;
  // What nearly every client sends needs no parsing.
  if (accept === undefined || accept === "*/*" || accept === "application/json" || req.accepts(jsonMediaType)) {
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
