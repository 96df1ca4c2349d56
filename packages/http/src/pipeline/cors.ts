import cors from "cors";
import type { RequestHandler } from "express";
import type { Admission } from "./admission.js";
import { contextOf } from "./request-context.js";

/** Headers a script of another origin may read. */
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
 * Any origin may call, without credentials of the browser's: the key is in a header the script sets itself. These are
 * the very headers `cors` would set, for the browsers that ask for them alone.
 */
export const exposeToAnyOrigin: RequestHandler = (req, res, next) => {
  if (req.headers.origin !== undefined) {
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader("Access-Control-Expose-Headers", exposed);
  }
  next();
};

/** A preflight needs no key and costs nothing, and still reports the address's quota. */
export function answerPreflight(admission: Pick<Admission, "reportAddressQuota">): RequestHandler {
  const answer = cors({
    origin: "*",
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
    exposedHeaders,
    maxAge: 86_400,
  });
  return async (req, res, next) => {
    if (req.method !== "OPTIONS") {
      next();
      return;
    }
    contextOf(res).route = "preflight";
    await admission.reportAddressQuota(res);
    answer(req, res, next);
  };
}
