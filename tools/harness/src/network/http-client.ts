import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { type HttpAnswer, nowMs, readAnswer } from "./answer.js";

export interface RequestOptions {
  readonly key?: string;
  /** The client sends them unchanged. An array sends the header once for each value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The media type is application/json unless the headers name another one. */
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** Disposing closes its connections. */
export interface HttpClient extends Disposable {
  readonly origin: string;
  /** Rejects when there is no whole answer. */
  send(method: string, path: string, options?: RequestOptions): Promise<HttpAnswer>;
}

/**
 * `node:http`, because `fetch` changes the path, joins the headers of a name and always sends a Host. Keeps its
 * connections open, as many as it has requests in flight.
 */
export function openHttpClient(origin: string): HttpClient {
  // Closes an idle connection before the service does, after 75 s: a request would be lost on a connection that ends.
  const agent = new Agent({ keepAlive: true, timeout: 30_000 });
  return {
    origin,
    async send(method, path, { key, headers, body, signal } = {}) {
      const sentAtMs = nowMs();
      // Otherwise `node:http` sends the body of a GET without its length, as the beginning of the next request.
      const isChunked = headers?.["transfer-encoding"] !== undefined;
      const sent = {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(body !== undefined && !isChunked && { "content-length": Buffer.byteLength(body) }),
        ...headers,
      };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(origin, { agent, method, path, headers: sent, signal }, resolve).on("error", reject).end(body);
      });
      const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      const status = response.statusCode ?? 0;
      return readAnswer({ status, headers: Object.fromEntries(received), text: await text(response) }, sentAtMs);
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** Returns whether a GET request to the URL succeeds. */
export async function isAnswering(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // Nobody listens.
    return false;
  }
}
