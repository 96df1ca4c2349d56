import { setTimeout as sleep } from "node:timers/promises";
import type { HttpAnswer } from "./answer.js";
import { openRawClient } from "./raw-client.js";

export interface Moment {
  readonly port: number;
  /** The bytes of each request. Each is sent on a connection of its own. */
  readonly requests: readonly string[];
  /** Holds the last byte of each request back for this time, and then sends all of them at one moment. */
  readonly heldMs?: number;
}

/** A busy machine needs several times the usual time. */
const answeredWithinMs = 60_000;

/** Sends all requests at one moment. Resolves with the answers; a request without an answer has none. */
export async function sendAtOneMoment({ port, requests, heldMs = 0 }: Moment): Promise<readonly HttpAnswer[]> {
  const clients = await Promise.all(
    requests.map(async (request) => {
      const client = openRawClient(port);
      await new Promise((resolve) => client.socket.once("connect", resolve).once("close", resolve));
      return { client, request };
    }),
  );
  try {
    if (heldMs > 0) {
      for (const { client, request } of clients) client.write(request.slice(0, -1));
      await sleep(heldMs);
    }
    for (const { client, request } of clients) client.write(heldMs > 0 ? request.slice(-1) : request);
    await Promise.all(clients.map(({ client }) => client.until(1, answeredWithinMs)));
    return clients.flatMap(({ client }) => client.answers());
  } finally {
    for (const { client } of clients) client[Symbol.dispose]();
  }
}
