import { randomUUID } from "node:crypto";
import {
  type Admitted,
  type Caller,
  containsKey,
  type KeyWithAccount,
  type KeyWithLimits,
  type Quota,
  type Reservation,
} from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";
import { clientAddress } from "../server/client-identity.js";

export interface RequestContext {
  readonly id: string;
  readonly scheme: "http" | "https";
  /** Requests without a valid key are counted by this address. */
  readonly clientAddress: string | undefined;
  /** A template such as `/v1/pets`, or a name such as `static`. Never the path, which can hold any text of a client. */
  route: string;
  /** The trace of the caller, or of this service if it records traces. */
  traceId: string | undefined;
  operation: GraphqlOperation | undefined;
  /** The valid key of the request, also if the quota then refuses the request. */
  key: KeyWithLimits | undefined;
  /** PostgreSQL is unavailable or too busy, so the key may have been revoked since it was last checked. */
  isKeyStale: boolean;
  /** The body had not arrived in full when the request was admitted. */
  isBodyPending: boolean;
  /** A revoked or expired key of the request. */
  rejectedKey: KeyWithAccount | undefined;
  /** The units to give back after SERVICE_UNAVAILABLE. Only admission reads and writes them. */
  heldUnits: { readonly quota: Quota; readonly reservation: Reservation; readonly admitted: Admitted } | undefined;
  problemCode: string | undefined;
}

interface GraphqlOperation {
  readonly type: "query" | "mutation" | "subscription";
  /** Safe to log. Absent if the operation has no name, or if its name contains an API key. */
  readonly name: string | undefined;
  /** In units of the quota, once it is computed. */
  readonly cost: number | undefined;
}

declare global {
  namespace Express {
    interface Locals {
      context: RequestContext;
    }
  }
}

export function createRequestContext(req: Request): RequestContext {
  return {
    id: requestId(req),
    // Express reads X-Forwarded-Proto only from a trusted proxy. It can hold any text: other values count as `http`.
    scheme: req.protocol === "https" ? "https" : "http",
    // Read at the start, because a closed connection has no address.
    clientAddress: clientAddress(req),
    route: "unmatched",
    traceId: callersTraceId(req),
    operation: undefined,
    key: undefined,
    isKeyStale: false,
    isBodyPending: false,
    rejectedKey: undefined,
    heldUnits: undefined,
    problemCode: undefined,
  };
}

export function contextOf(res: Response): RequestContext {
  return res.locals.context;
}

export function admittedKeyOf(res: Response): KeyWithLimits {
  const { key } = contextOf(res);
  if (key === undefined) throw new Error("the handler is not behind admission");
  return key;
}

export function callerOf(res: Response): Caller {
  const { accountId, scope } = admittedKeyOf(res);
  return { accountId, scope, isStale: contextOf(res).isKeyStale };
}

/** Names the route for log, metrics and traces. */
export function onRoute(template: string): RequestHandler {
  return (_req, res, next) => {
    contextOf(res).route = template;
    next();
  };
}

/**
 * Version, trace id, parent id and flags (W3C Trace Context, section 3.2). Version `ff` is invalid. A header of version
 * `00` has exactly 55 characters. Later versions may have further fields (section 4.3).
 */
const traceparent = /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[^,]*)?$/;

/** Ignores a malformed or repeated `traceparent`. Node joins repeated headers with a comma, so they do not match. */
function callersTraceId(req: Request): string | undefined {
  const sent = req.headers.traceparent;
  return typeof sent === "string" ? traceparent.exec(sent)?.[1] : undefined;
}

/** The id that the client sent, if it is safe to return and to log. Otherwise a new id. */
function requestId(req: Request): string {
  const given = req.headers["x-request-id"];
  const isSafe = typeof given === "string" && /^[\w.:+/=-]{1,128}$/.test(given) && !containsKey(given);
  return isSafe ? given : randomUUID();
}
