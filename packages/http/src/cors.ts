import cors from "cors";
import type { RequestHandler } from "express";
import type { Admission } from "./admission.js";

/** Headers a script of another origin may read. */
const exposedHeaders = [
  "Allow",
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

/**
 * Any origin may call, without credentials of the browser's: the key is in a header the script sets itself. A preflight
 * is answered here, costs nothing and still reports the address's quota.
 */
export function allowAnyOrigin(admission: Pick<Admission, "reportAddressQuota">): RequestHandler {
  const answerPreflight = cors({
    origin: "*",
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id"],
    exposedHeaders,
    maxAge: 86_400,
  });
  const exposed = exposedHeaders.join(",");
  return async (req, res, next) => {
    if (req.method === "OPTIONS") {
      await admission.reportAddressQuota(req, res);
      answerPreflight(req, res, next);
      return;
    }
    // The very headers `cors` would set, for the browsers that ask for them alone.
    if (req.headers.origin !== undefined) {
      res.setHeader("Access-Control-Allow-Origin", "*");
      res.setHeader("Access-Control-Expose-Headers", exposed);
    }
    next();
  };
}
