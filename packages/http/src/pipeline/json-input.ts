/** The order in which a body is read and parsed, in both APIs: nothing is parsed for a client that must not send it. */
import { requireScope, type Ticket } from "@petstore/core";
import type { AccountTurns } from "./account-turns.js";
import { parseBody } from "./body.js";
import type { HttpRequest } from "./http-request.js";

export interface JsonInputOptions {
  readonly maxDepth?: number;
  /** The scope that the request needs. GraphQL knows it only when it executes the operation. */
  readonly scope?: "read" | "write";
}

/**
 * The JSON body of an admitted request, integers as bigint. Throws INSUFFICIENT_SCOPE, the problems of `body.ts`, those of
 * `ticket.confirm`, and SERVICE_UNAVAILABLE if too many bodies of the account wait.
 */
export async function readJson(
  request: HttpRequest,
  ticket: Ticket,
  accountTurns: AccountTurns,
  { maxDepth, scope }: JsonInputOptions = {},
): Promise<unknown> {
  if (scope !== undefined) requireScope(ticket.caller, scope);
  const wasComplete = request.isComplete;
  const body = await request.readBody();
  // A body can take 30 s, and the key may have changed meanwhile.
  if (!wasComplete) await ticket.confirm();
  if (scope !== undefined) requireScope(ticket.caller, scope);
  return inTurn(accountTurns, request, ticket, body.length, () => parseBody(body, maxDepth));
}

/**
 * 16 KiB: about 100 small bodies, or one long body, are parsed in one turn. More bodies per turn would make others wait. With
 * fewer, an account that sends many small ones would wait for the event loop after each.
 */
const bytesPerTurn = 16_384;

/** Parses input of an admitted request, in a turn of its account. */
export function inTurn<T>(
  turns: AccountTurns,
  { response }: Pick<HttpRequest, "response">,
  { caller: { accountId } }: Ticket,
  bytes: number,
  parse: () => T,
): T | Promise<T> {
  return turns.run({ accountId, bytes, cost: bytes / bytesPerTurn, response }, parse);
}
