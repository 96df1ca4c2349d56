import cors from "cors";
import type { RequestHandler, Response } from "express";
import type { Admission } from "./admission.js";
import { contextOf } from "./request-context.js";

/** Headers that a script of another origin may read. */
const exposedHeaders = [
  "Allow",
  "Date",
  "Deprecation",
  "Idempotency-Replayed",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
];

const exposed = exposedHeaders.join(",");

/**
 * Any origin may call, without the browser's credentials: a script sets the key in a header itself. Sets the same headers
 * as `cors`. Only browsers need them.
 */
export function exposeToAnyOrigin(res: Response): void {
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", exposed);
}

/** A preflight needs no key and costs nothing, and still reports the quota of the address. */
export function answerPreflight(admission: Pick<Admission, "reportAddressQuota">): RequestHandler {
  const answer = cors({
    origin: "*",
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
    exposedHeaders,
    maxAge: 86_400,
  });
  return async (req, res, next) => {
    contextOf(res).route = "preflight";
    await admission.reportAddressQuota(res);
    answer(req, res, next);
  };
}
