/** Makes the value of a request. */
import { randomUUID } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { ParsedUrlQuery } from "node:querystring";
import { containsKey, type Problem } from "@petstore/core";
import type { Request, Response } from "express";
import { jsonMediaType } from "../server/media-types.js";
import { type MessageHead, readMessageHead } from "../server/message-head.js";
import { readBody } from "./body.js";

/** A request, as handlers see it. Nothing writes to it after its creation. */
export interface HttpRequest extends MessageHead {
  /** The X-Request-Id of the client if it is safe to return and to log, else a new id. */
  readonly id: string;
  readonly method: string;
  /** Path and query, as the client sent them. */
  readonly url: string;
  /** The path, still percent-encoded. */
  readonly path: string;
  /** A repeated parameter is an array. */
  readonly query: ParsedUrlQuery;
  readonly scheme: "http" | "https";
  readonly headers: IncomingHttpHeaders;
  /** The trace of the client, if its `traceparent` is valid. */
  readonly trace: { readonly traceparent: string; readonly traceId: string } | undefined;
  /** The media type of the response that the client prefers. `undefined` if it accepts none of the resource. */
  readonly mediaType: string | undefined;
  /** The body has arrived in full, or there is none. */
  readonly isComplete: boolean;
  /** Closes when the response is sent, or when the client has gone. */
  readonly response: EventEmitter & { readonly closed: boolean };
  /** The one of these media types that the client prefers (RFC 9110 section 12.5.1), the first of equal ones. */
  accepts(mediaTypes: readonly string[]): string | undefined;
  acceptsEncoding(encoding: "br" | "gzip"): boolean;
  /** The bytes of a body that must be JSON. Throws the problems of `body.ts`. */
  readBody(): Promise<Buffer>;
}

/** `mediaTypes` are those of the resource. */
export function createRequest(
  req: Request,
  res: Response,
  mediaTypes: readonly string[] = [jsonMediaType],
): HttpRequest {
  return new ReceivedRequest(req, res, mediaTypes);
}

/** A class, because V8 creates its objects several times as fast as an object of getters and functions. */
class ReceivedRequest implements HttpRequest {
  readonly malformed: MessageHead["malformed"];
  readonly clientAddress: MessageHead["clientAddress"];
  readonly addressBucket: MessageHead["addressBucket"];
  readonly contentType: MessageHead["contentType"];
  readonly idempotencyKey: MessageHead["idempotencyKey"];
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly scheme: HttpRequest["scheme"];
  readonly headers: IncomingHttpHeaders;
  readonly trace: HttpRequest["trace"];
  readonly mediaType: string | undefined;
  readonly response: HttpRequest["response"];
  readonly #req: Request;
  readonly #res: Response;
  readonly #head: MessageHead;

  constructor(req: Request, res: Response, mediaTypes: readonly string[]) {
    const head = readMessageHead(req);
    this.malformed = head.malformed;
    this.clientAddress = head.clientAddress;
    this.addressBucket = head.addressBucket;
    this.contentType = head.contentType;
    this.idempotencyKey = head.idempotencyKey;
    this.id = requestId(req.headers["x-request-id"]);
    this.method = req.method;
    this.url = req.url;
    // Express reads X-Forwarded-Proto only from a trusted proxy. It can hold any text: other values count as `http`.
    this.scheme = req.protocol === "https" ? "https" : "http";
    this.headers = req.headers;
    this.trace = readTrace(req.headers.traceparent);
    this.mediaType = acceptedType(req, mediaTypes);
    this.response = res;
    this.#req = req;
    this.#res = res;
    this.#head = head;
  }

  get path(): string {
    return this.#req.path;
  }

  get query(): ParsedUrlQuery {
    return this.#req.query as ParsedUrlQuery;
  }

  get isComplete(): boolean {
    return this.#req.complete;
  }

  readToken(): string | Problem {
    return this.#head.readToken();
  }

  accepts(mediaTypes: readonly string[]): string | undefined {
    return acceptedType(this.#req, mediaTypes);
  }

  acceptsEncoding(encoding: "br" | "gzip"): boolean {
    return this.#req.acceptsEncodings(encoding) !== false;
  }

  readBody(): Promise<Buffer> {
    return readBody(this.#req, this.#res, this.contentType);
  }
}

const maxAcceptLength = 1_000;

function acceptedType(req: Request, mediaTypes: readonly string[]): string | undefined {
  const { accept } = req.headers;
  if (accept === "application/json" && mediaTypes[0] === jsonMediaType) return jsonMediaType;
  // Ignores a long header, as the RFC allows. It is read before authentication, so parsing must be cheap.
  if (accept === undefined || accept === "*/*" || accept.length > maxAcceptLength) return mediaTypes[0];
  return req.accepts([...mediaTypes]) || undefined;
}

function requestId(given: string | string[] | undefined): string {
  const isSafe = typeof given === "string" && /^[\w.:+/=-]{1,128}$/.test(given) && !containsKey(given);
  return isSafe ? given : randomUUID();
}

/**
 * Version, trace id, parent id and flags (W3C Trace Context, section 3.2). Version `ff` is invalid. A header of version
 * `00` has exactly 55 characters. Later versions may have further fields (section 4.3).
 */
const traceparentPattern =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[^,]*)?$/;

/** Ignores a malformed or repeated `traceparent`. Node joins repeated headers with a comma, so they do not match. */
function readTrace(sent: string | string[] | undefined): HttpRequest["trace"] {
  if (typeof sent !== "string") return undefined;
  const traceId = traceparentPattern.exec(sent)?.[1];
  return traceId === undefined ? undefined : { traceparent: sent, traceId };
}
