import { Problem } from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";

export const jsonMediaType = "application/json; charset=utf-8";

const maxAcceptLength = 1_000;

/** The media type that the client prefers (RFC 9110 section 12.5.1), the first of equal ones. `undefined` if none fits. */
export function acceptedType(req: Request, mediaTypes: readonly string[]): string | undefined {
  const { accept } = req.headers;
  // Ignores a long header, as the RFC allows. The GraphQL API reads it before authentication, so parsing must be cheap.
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return mediaTypes[0];
  return req.accepts([...mediaTypes]) || undefined;
}

export const acceptsJson: RequestHandler = (req, _res, next) => {
  const isAccepted = req.headers.accept === "application/json" || acceptedType(req, [jsonMediaType]) !== undefined;
  if (!isAccepted) throw new Problem("NOT_ACCEPTABLE");
  next();
};

/** Keeps a negotiated Content-Type. Express's `res.json` would serialize again and compute an ETag. */
export function sendJson(res: Response, status: number, text: string): void {
  res.statusCode = status;
  if (!res.hasHeader("Content-Type")) res.setHeader("Content-Type", jsonMediaType);
  // Node sets this header too, but not in a response to HEAD or to HTTP/1.0.
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}
