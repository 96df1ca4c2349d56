/** Reads who sends a message, and whether it is a valid request. */
import type { Problem } from "@petstore/core";
import type { Request } from "express";
import { addressBucket, bearerToken, clientAddress } from "./client-identity.js";
import { readSingleHeaders, type SingleHeader } from "./single-headers.js";
import { validateRequestMessage } from "./validate-request-message.js";

/** What the head of a message says about its client, and what must be known before anything else is read. */
export interface MessageHead {
  /** Why the message is not a valid request. */
  readonly malformed: Problem | undefined;
  readonly clientAddress: string | undefined;
  /** Counts the requests of this address that have no valid key. */
  readonly addressBucket: string;
  readonly contentType: SingleHeader;
  readonly idempotencyKey: SingleHeader;
  /** Reads the bearer token, or returns the problem of a request without one. */
  readToken(): string | Problem;
}

export function readMessageHead(request: Request): MessageHead {
  const { host, authorization, contentType, idempotencyKey } = readSingleHeaders(request);
  // Read at the start, because a closed connection has no address.
  const address = clientAddress(request);
  return {
    malformed: validateRequestMessage(request, host),
    clientAddress: address,
    addressBucket: addressBucket(address),
    contentType,
    idempotencyKey,
    readToken: () => bearerToken(authorization),
  };
}
