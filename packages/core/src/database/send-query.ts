import { type ClientBase, Query } from "pg";
import { DatabaseTimeout } from "./availability.js";
import { destroySocket } from "./end-client.js";

export interface PreparedQuery {
  /** Empty where nothing is to be prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** The limit that the server keeps. Without an answer a moment later, the connection is destroyed. */
  readonly timeoutMs: number;
}

/** How much later than the server this process gives up, for the server's own answer to arrive. */
export const readGraceMs = 100;

/**
 * `client.query(config)`, without its copy of the configuration by property descriptors and its two further promises,
 * which cost more than the rest of a query's handling. Rejects with a DatabaseTimeout when nothing is heard in time.
 */
export function sendQuery<Row>(client: ClientBase, { name, text, values, timeoutMs }: PreparedQuery): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const timer = timeoutAfterReading(() => {
      if (isAnswered) return;
      reject(new DatabaseTimeout(`no answer within ${timeoutMs + readGraceMs} ms`));
      // Later queries on this connection would wait for the same answer.
      destroySocket(client);
    }, timeoutMs + readGraceMs);
    const query = new Query(text, values, (error, result) => {
      isAnswered = true;
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result.rows);
    });
    client.query(Object.assign(query, { name }));
  });
}

/**
 * `setTimeout` for deadlines of replies. Node runs timers, then reads sockets, then runs immediates, so a reply that
 * arrived while this process was busy is read before the callback runs.
 */
export function timeoutAfterReading(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(callback), milliseconds);
}
