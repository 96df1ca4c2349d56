/** The order in which a body is read and parsed, in both APIs: nothing is parsed for a client that must not send it. */
import { requireScope } from "@petstore/core";
import type { Request, Response } from "express";
import type { AccountTurns } from "./account-turns.js";
import type { Admission } from "./admission.js";
import { parseBody, readBody } from "./body.js";
import { admittedKeyOf, callerOf } from "./request-context.js";

export interface JsonInputDeps {
  readonly admission: Pick<Admission, "confirmKey">;
  readonly accountTurns: AccountTurns;
}

export interface JsonInputOptions {
  readonly maxDepth?: number;
  /** The scope that the request needs. GraphQL knows it only when it executes the operation. */
  readonly scope?: "read" | "write";
}

/**
 * The JSON body of an admitted request, integers as bigint. Throws INSUFFICIENT_SCOPE, the problems of `readBody`,
 * `confirmKey` and `parseBody`, and SERVICE_UNAVAILABLE if too many bodies of the account wait.
 */
export async function readJson(
  req: Request,
  res: Response,
  { admission, accountTurns }: JsonInputDeps,
  { maxDepth, scope }: JsonInputOptions = {},
): Promise<unknown> {
  if (scope !== undefined) requireScope(callerOf(res), scope);
  const body = await readBody(req, res);
  await admission.confirmKey(req, res);
  // The scope of the key may have changed while the body arrived.
  if (scope !== undefined) requireScope(callerOf(res), scope);
  return inTurn(accountTurns, res, body.length, () => parseBody(body, maxDepth));
}

/**
 * 16 KiB: about 100 small bodies, or one long body, are parsed in one turn. More bodies per turn would make others wait, and
 * fewer would spread the creates of one moment over many inserts (decision 0016).
 */
const bytesPerTurn = 16_384;

/** Parses input of an admitted request, in a turn of its account. */
export function inTurn<T>(turns: AccountTurns, res: Response, bytes: number, parse: () => T): T | Promise<T> {
  const { accountId } = admittedKeyOf(res);
  return turns.run({ accountId, bytes, cost: bytes / bytesPerTurn, response: res }, parse);
}
