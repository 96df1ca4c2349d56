import { randomUUID } from "node:crypto";
import type { Admitted, Catalogue, Core, KeyWithAccount, Quota, Reservation } from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";
import { clientAddress } from "./client-address.js";
import { containsApiKey } from "./credentials.js";

/** What is known of one request and its answer, from its first handler to its log line. */
export interface RequestContext {
  readonly id: string;
  readonly startedAtMs: number;
  /** Who sent the request: the address that is counted where no valid key is shown. */
  readonly clientAddress: string | undefined;
  /** Present where requests are traced. */
  traceId?: string;
  /** The route's template, never the path itself: paths hold what clients send. */
  route: string;
  /** Present once the request has shown a valid key. */
  key?: KeyWithAccount;
  /** Whether the key may have been revoked since it was last checked: PostgreSQL cannot be reached. */
  isKeyStale?: boolean;
  /** Whether the body had not arrived in full when the request was admitted. */
  isBodyPending?: boolean;
  /** Present once the request has shown a key that was revoked or has expired. */
  rejectedKey?: KeyWithAccount;
  /** Present while units are spent on the request that a failure of ours would give back. */
  spent?: Spent;
  /** The code of the problem that was answered. */
  problem?: string;
}

export interface Spent {
  readonly quota: Quota;
  readonly reservation: Reservation;
  readonly admitted: Admitted;
}

/** Opens the context; everything after it may call `contextOf`. */
export function beginRequest(now: () => number): RequestHandler {
  return (req, res, next) => {
    const context: RequestContext = {
      id: requestId(req),
      startedAtMs: now(),
      // Read now: a connection that has ended no longer tells its address.
      clientAddress: clientAddress(req),
      route: "unmatched",
    };
    res.locals.context = context;
    res.setHeader("X-Request-Id", context.id);
    res.setHeader("Cache-Control", "no-store");
    res.setHeader("X-Content-Type-Options", "nosniff");
    next();
  };
}

export function contextOf(res: Response): RequestContext {
  return res.locals.context as RequestContext;
}

/** The key behind a request; only handlers behind admission may ask. */
export function callerOf(res: Response): KeyWithAccount {
  const { key } = contextOf(res);
  if (key === undefined) throw new Error("the handler is not behind admission");
  return key;
}

/** The catalogue for a request: while its key is stale, one that never asks PostgreSQL. */
export function catalogueFor(res: Response, core: Pick<Core, "catalogue" | "catalogueWhileUnreachable">): Catalogue {
  return contextOf(res).isKeyStale ? core.catalogueWhileUnreachable : core.catalogue;
}

/** Names the route for the log. */
export function onRoute(template: string): RequestHandler {
  return (_req, res, next) => {
    contextOf(res).route = template;
    next();
  };
}

/** The client's own id where it is safe to repeat and to log, else a new one. */
function requestId(req: Request): string {
  const given = req.headers["x-request-id"];
  const isSafe = typeof given === "string" && /^[\w.:+/=-]{1,128}$/.test(given) && !containsApiKey(given);
  return isSafe ? given : randomUUID();
}
