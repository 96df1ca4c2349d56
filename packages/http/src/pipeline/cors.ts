import cors from "cors";
import type { RequestHandler, Response } from "express";
import type { Admission } from "./admission.js";
import { contextOf } from "./request-context.js";

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
].join(",");

/**
 * Any origin may call. Cookies are not used; the script sends the key in a header. Sets the same headers as `cors`, but only
 * if Origin is present.
 */
export function exposeToAnyOrigin(res: Response): void {
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", exposedHeaders);
}

/**
 * Answers OPTIONS, also without Origin. It needs no key and costs nothing, and reports the quota of the address. It allows
 * every request header that the browser asks for: requests carry no cookies, so a list would protect nothing.
 */
export function answerPreflight(admission: Pick<Admission, "reportAddressQuota">): RequestHandler {
  const answer = cors({
    origin: "*",
    methods: ["GET", "HEAD", "POST"],
    exposedHeaders,
    maxAge: 86_400,
  });
  return async (req, res, next) => {
    contextOf(res).route = "preflight";
    await admission.reportAddressQuota(res);
    answer(req, res, next);
  };
}
