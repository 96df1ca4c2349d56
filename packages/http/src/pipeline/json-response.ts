import { Problem } from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";

export const jsonMediaType = "application/json; charset=utf-8";

const maxAcceptLength = 1_000;

/** The media type that the request accepts most (RFC 9110 section 12.5.1), the first of several equal ones, or `undefined`. */
export function acceptedType(req: Request, mediaTypes: readonly string[]): string | undefined {
  const { accept } = req.headers;
  // A header longer than any client needs is ignored, as the RFC allows: the GraphQL API negotiates before
  // authentication, so parsing has to be cheap.
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return mediaTypes[0];
  return req.accepts([...mediaTypes]) || undefined;
}

export const acceptsJson: RequestHandler = (req, _res, next) => {
  const isAccepted = req.headers.accept === "application/json" || acceptedType(req, [jsonMediaType]) !== undefined;
  if (!isAccepted) throw new Problem("NOT_ACCEPTABLE");
  next();
};

/** A negotiated Content-Type stays. Express's `res.json` would serialize again and compute an ETag. */
export function sendJson(res: Response, status: number, text: string): void {
  res.statusCode = status;
  if (!res.hasHeader("Content-Type")) res.setHeader("Content-Type", jsonMediaType);
  // Node sets it by itself, but not in a response to HEAD or to HTTP/1.0.
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}
