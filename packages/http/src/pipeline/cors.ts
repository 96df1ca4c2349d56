import type { RequestHandler, Response } from "express";
import type { Admission } from "./admission.js";
import { contextOf } from "./request-context.js";

const exposedHeaders = [
  "Allow",
  "Date",
  "Deprecation",
  "ETag",
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
].join(",");

/** Any origin may call: the API uses no cookies, and a script sends the key in a header. */
export function exposeToAnyOrigin(res: Response): void {
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", exposedHeaders);
}

/** Allows every request header that the browser asks for. Without cookies, a list would protect nothing. */
export function answerPreflight(admission: Pick<Admission, "reportAddressQuota">): RequestHandler {
  return async (req, res) => {
    contextOf(res).route = "preflight";
    await admission.reportAddressQuota(res);
    exposeToAnyOrigin(res);
    const requested = req.headers["access-control-request-headers"];
    if (requested !== undefined) res.setHeader("Access-Control-Allow-Headers", requested);
    res.setHeader("Access-Control-Allow-Methods", "GET,HEAD,POST");
    res.setHeader("Access-Control-Max-Age", "86400");
    res.status(204).end();
  };
}
