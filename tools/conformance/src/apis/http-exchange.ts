import { Agent, type IncomingMessage, type OutgoingHttpHeader, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Call } from "./api.js";

/** How an API is reached. */
export type Exchange = (request: HttpRequest) => Promise<HttpAnswer>;

interface HttpRequest {
  readonly path: string;
  readonly method: string;
  /** An array sends the header so many times. */
  readonly headers: NodeJS.Dict<OutgoingHttpHeader>;
  readonly body?: string | Buffer | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly receivedAtMs: number;
}

/** `node:http`, because `fetch` joins headers of one name, and refuses methods and bodies that a client may send. */
export function openHttpExchange(origin: string): Exchange {
  const agent = new Agent({ keepAlive: true });
  return async ({ path, method, headers, body }) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${origin}${path}`, { agent, method, headers }, resolve).on("error", reject).end(body);
    });
    const answered = await text(response);
    return {
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      text: answered,
      receivedAtMs: Date.now(),
    };
  };
}

/** Who calls: the same headers at every API. */
export function callerHeaders({ authorization, address }: Call): NodeJS.Dict<OutgoingHttpHeader> {
  return { "x-forwarded-for": address, ...(authorization.length > 0 && { authorization: [...authorization] }) };
}
