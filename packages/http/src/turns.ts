/**
 * Lets so many requests go on in each turn of the event loop, in the order they came. Where a crowd does every step
 * together, the first to come wait for the last at each of them, and all that they hold is alive at once.
 */
import type { Socket } from "node:net";
import { createPace, type Pace } from "@petstore/core";
import type { RequestHandler } from "express";
import type { MetricFamily } from "./metric-family.js";

/** With 8 or 32 a crowd of 512 waits as long; with fewer, what leaves together is too little. */
const usualRequestsPerTurn = 16;

export interface Turns {
  /** Ahead of whatever keeps something for a request in an AsyncLocalStorage: a request goes on in another one's context. */
  readonly take: RequestHandler;
  /** How long the first of those that wait for their turn has waited; 0 while none does. */
  waitedMs(): number;
  readonly families: readonly MetricFamily[];
}

export interface TurnsOptions {
  readonly requestsPerTurn?: number;
  /** None begins while it is spent: what has begun is ended first, so that little is under way at once. */
  readonly next?: Pick<Pace, "isSpent">;
}

export function createTurns({ requestsPerTurn = usualRequestsPerTurn, next }: TurnsOptions = {}): Turns {
  const { isSpent, take, waitedMs } = createPace(requestsPerTurn, next);
  const waitingOf = new Map<Socket, number>();

  /** A connection that sends request after request is not read while two of them wait: what waits stays bounded. */
  function wait(socket: Socket): void {
    const count = (waitingOf.get(socket) ?? 0) + 1;
    waitingOf.set(socket, count);
    if (count === 2) {
      // Node reads on by itself whenever it has sent an answer.
      socket.on("resume", holdBack);
      socket.pause();
    }
  }

  function leave(socket: Socket): void {
    const count = (waitingOf.get(socket) ?? 1) - 1;
    if (count > 0) waitingOf.set(socket, count);
    else waitingOf.delete(socket);
    if (count === 1 && !socket.destroyed) {
      socket.off("resume", holdBack);
      socket.resume();
    }
  }

  return {
    take({ socket }, _response, goOn) {
      if (!isSpent()) return take(1, goOn);
      wait(socket);
      take(1, () => {
        leave(socket);
        // Nothing is done for a client that has gone.
        if (!socket.destroyed) goOn();
      });
    },
    waitedMs,
    families: [
      {
        name: "petstore_turn_wait_seconds",
        help: "How long the first of the requests that wait for their turn of the event loop has waited.",
        type: "gauge",
        samples: () => [{ labels: {}, value: waitedMs() / 1_000 }],
      },
    ],
  };
}

function holdBack(this: Socket): void {
  this.pause();
}
