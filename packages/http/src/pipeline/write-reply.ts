/** Writes the reply, with the headers that all responses have. No other code sets headers on the port of the APIs. */
import { type Problem, type QuotaReport, remaining, reportedWindow, secondsUntil } from "@petstore/core";
import type { Response } from "express";
import type { HttpRequest } from "./http-request.js";
import type { Answer } from "./reply.js";
import type { Resource } from "./resource.js";

const exposedHeaders = [
  "Allow",
  "API-Key-Expires",
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
export const corsHeaders: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": exposedHeaders,
};

/** `resource` is absent for a path that is not of an API. */
export function writeReply(
  res: Response,
  request: HttpRequest,
  { reply, quota, announcedExpiry }: Answer,
  resource: Pick<Resource, "headers" | "links"> | undefined,
): void {
  const { status, body, problems = [] } = reply;
  const headers: Record<string, string> = {
    "X-Request-Id": request.id,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(request.headers.origin !== undefined && corsHeaders),
    ...resource?.headers,
  };
  if (quota !== undefined) addQuota(headers, quota);
  for (const problem of problems) addProblem(headers, problem);
  const links = [...(resource?.links ?? []), ...(reply.links ?? [])];
  const [problem] = problems;
  if (problem !== undefined) links.push(helpLink(problem));
  if (links.length > 0) headers.Link = links.join(", ");
  // A reply may replace a common header, such as Cache-Control.
  Object.assign(headers, reply.headers);
  if (announcedExpiry !== undefined) {
    headers["API-Key-Expires"] = announcedExpiry;
    // A 304 cannot remove a header of the stored response, so a browser would show this end for a later key too.
    headers["Cache-Control"] = "no-store";
  }

  if (isUnchanged(res, status, headers.ETag)) {
    // A 304 describes no content (RFC 9110 section 15.4.5).
    const { "Content-Type": _type, "Content-Encoding": _encoding, ...rest } = headers;
    res.writeHead(304, rest).end();
    return;
  }
  // Node sets this header too, but not in a response to HEAD or to HTTP/1.0.
  if (body !== undefined) headers["Content-Length"] = `${Buffer.byteLength(body)}`;
  res.writeHead(status, headers).end(body);
}

/** Express compares the ETag (RFC 9110 section 13.1.2). It reads it, and the status, from the response. */
function isUnchanged(res: Response, status: number, etag: string | undefined): boolean {
  if (etag === undefined || res.req.headers["if-none-match"] === undefined) return false;
  res.statusCode = status;
  res.setHeader("ETag", etag);
  return res.req.fresh;
}

/** `X-RateLimit-*` describe one window. `RateLimit` describes both (draft-ietf-httpapi-ratelimit-headers-10). */
function addQuota(headers: Record<string, string>, quota: QuotaReport): void {
  const { minute, day } = quota;
  const reported = reportedWindow(quota);
  headers["X-RateLimit-Limit"] = `${reported.limit}`;
  headers["X-RateLimit-Remaining"] = `${remaining(reported)}`;
  headers["X-RateLimit-Reset"] = `${Math.ceil(reported.resetAtMs / 1000)}`;
  headers["RateLimit-Policy"] = `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`;
  headers.RateLimit =
    `"minute";r=${remaining(minute)};t=${secondsUntil(minute.resetAtMs, quota)}, ` +
    `"day";r=${remaining(day)};t=${secondsUntil(day.resetAtMs, quota)}`;
}

function addProblem(headers: Record<string, string>, problem: Problem): void {
  const challenge = challengeOf(problem);
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  if (problem.retryAfterSeconds !== undefined) headers["Retry-After"] = `${problem.retryAfterSeconds}`;
}

/** RFC 6750 section 3 has no error code for a suspended account. */
function challengeOf({ code, status }: Problem): string | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const realm = 'Bearer realm="petstore"';
  if (code === "API_KEY_MISSING" || code === "ACCOUNT_SUSPENDED") return realm;
  return `${realm}, error="${code === "INSUFFICIENT_SCOPE" ? "insufficient_scope" : "invalid_token"}"`;
}

/** The link is relative, so it works at any address of the service. */
function helpLink({ code }: Problem): string {
  return `</docs/errors#${code}>; rel="help"`;
}
