/**
 * Shares the event loop between accounts whose requests are dear to parse.
 *
 * A turn is one round of the event loop, in which Node also reads from sockets and answers everybody else. Per turn, an
 * account may do work that costs one turn in all; work beyond that waits in the queue of the account. The queue is in
 * order, and each round takes from it what fits into one turn, but at least one piece.
 *
 *     nothing waits, and the turn has room  ->  the work runs at once, without a promise
 *     otherwise                             ->  it waits for a later turn
 *     the request is closed                 ->  it leaves the queue, and its memory is free
 *     too many bytes wait already           ->  SERVICE_UNAVAILABLE
 */
import type { EventEmitter } from "node:events";
import { Problem } from "@petstore/core";

interface TurnRequest {
  readonly accountId: bigint;
  /** The memory that is kept while the work waits. */
  readonly bytes: number;
  /** 1 is a whole turn. Work that costs more is done in one turn, too, and alone. */
  readonly cost: number;
  /** Work of a closed response is not done. */
  readonly response: EventEmitter & { readonly closed: boolean };
}

export interface AccountTurns {
  /**
   * Does `work` in a turn of the account, and returns its result. Throws or rejects with the error of `work`, with
   * SERVICE_UNAVAILABLE if too much work of the account waits, and with MALFORMED_REQUEST if the client has gone.
   */
  run<T>(request: TurnRequest, work: () => T): T | Promise<T>;
}

/** 20 MiB: the 300 requests per minute of the plan Pro fit, each with the longest body of 64 KiB. */
export const maxWaitingBytes = 20_971_520;

interface Waiting extends TurnRequest {
  start(): void;
}

interface Account {
  /** The cost of the work in the present turn. */
  spent: number;
  waitingBytes: number;
  /** Oldest first. A set, so that a closed request leaves from the middle at once. */
  readonly waiting: Set<Waiting>;
}

/** `schedule` calls its argument in the next turn of the event loop, after input was read: `setImmediate`. */
export function createAccountTurns(schedule: (turn: () => void) => unknown = setImmediate): AccountTurns {
  /** The accounts that have done work in the present turn, or that wait. */
  const accounts = new Map<bigint, Account>();

  function find(accountId: bigint): Account {
    const found = accounts.get(accountId);
    if (found !== undefined) return found;
    if (accounts.size === 0) schedule(startTurn);
    const account = { spent: 0, waitingBytes: 0, waiting: new Set<Waiting>() };
    accounts.set(accountId, account);
    return account;
  }

  function startTurn(): void {
    for (const [accountId, account] of accounts) {
      account.spent = 0;
      if (account.waiting.size === 0) accounts.delete(accountId);
      for (const waiting of account.waiting) {
        if (!hasRoom(account, waiting.cost)) break;
        account.spent += waiting.cost;
        waiting.start();
      }
    }
    if (accounts.size > 0) schedule(startTurn);
  }

  return {
    run(request, work) {
      if (request.response.closed) throw clientHasGone();
      const account = find(request.accountId);
      if (account.waiting.size === 0 && hasRoom(account, request.cost)) {
        account.spent += request.cost;
        return work();
      }
      if (account.waitingBytes + request.bytes > maxWaitingBytes) {
        throw new Problem("SERVICE_UNAVAILABLE", tooMuchWaits, { retryAfterSeconds: 1 });
      }
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          ...request,
          start() {
            leave();
            try {
              resolve(work());
            } catch (error) {
              reject(error);
            }
          },
        };
        function leave(): void {
          account.waiting.delete(waiting);
          account.waitingBytes -= request.bytes;
          request.response.off("close", abandon);
        }
        function abandon(): void {
          leave();
          reject(clientHasGone());
        }
        account.waiting.add(waiting);
        account.waitingBytes += request.bytes;
        // An operation of GraphQL may wait for each of its root fields: with more than 10 listeners, Node.js would warn of a leak.
        request.response.setMaxListeners(0);
        request.response.on("close", abandon);
      });
    },
  };
}

/** The first work of a turn always has room. */
function hasRoom({ spent }: Account, cost: number): boolean {
  return spent === 0 || spent + cost <= 1;
}

const tooMuchWaits = "Too many large requests of this account wait; send fewer at a time, and try again shortly.";

function clientHasGone(): Problem {
  return new Problem("MALFORMED_REQUEST", "The connection ended before the request was handled.");
}
