/**
 * GET /pets/{petId} is deprecated and will be removed on 5 December 2030 (contract, "Versioning"). Every response of the route
 * has Deprecation (RFC 9745), Sunset (RFC 8594), and links to the notice and to the replacement.
 */
import { Problem } from "@petstore/core";
import type { RequestHandler } from "express";

const deprecatedAtMs = Date.UTC(2026, 10, 20);
const removedAtMs = Date.UTC(2030, 11, 5);

/** Used before admission, so that refusals of the route have the headers too. */
export function announceRemoval(links: { readonly notice: string; readonly successor: string }): RequestHandler {
  const link = `<${links.notice}>; rel="deprecation"; type="text/markdown", <${links.successor}>; rel="successor-version"`;
  return (_req, res, next) => {
    res.setHeader("Deprecation", `@${deprecatedAtMs / 1000}`);
    res.setHeader("Sunset", new Date(removedAtMs).toUTCString());
    res.setHeader("Link", link);
    next();
  };
}

/** Refuses requests with 410 from the removal date on. */
export function refuseAfterRemoval(now: () => number): RequestHandler {
  return (_req, _res, next) => {
    if (now() >= removedAtMs) {
      throw new Problem("ENDPOINT_REMOVED", "GET /pets/{petId} was removed on 5 December 2030; use GET /pets.");
    }
    next();
  };
}
