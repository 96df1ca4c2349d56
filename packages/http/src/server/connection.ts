import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** One client connection. `connections.ts` creates it, and the files of this folder change it. */
export interface Connection {
  readonly socket: Socket;
  /**
   * Oldest request first. Responses close in this order, and leave when their request has arrived in full: an idle connection
   * holds none of them.
   */
  readonly responses: ServerResponse[];
  /** Requests that wait for their turn. Their responses are in `responses` already. */
  readonly waiting: (() => void)[];
  /** False after `stopReading`: further bytes are dropped. */
  isParsing: boolean;
  /** Later requests are dropped. */
  hasLastRequest: boolean;
  /** True after the first response. */
  hasResponded: boolean;
  /** The response that the client was reading at the last check for slow readers, and for how long. */
  slowRead: { readonly response: ServerResponse; readonly forMs: number } | undefined;
  readonly lingerMs: number;
}
