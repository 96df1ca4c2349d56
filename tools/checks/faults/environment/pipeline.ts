import { nowMs, openRawClient, type RawClient } from "@petstore/harness/network";
import { noAnswer, type Result, resultOf } from "./results.js";

/**
 * A connection that sends several requests before it reads the first answer (RFC 9112, section 9.3.2). It costs this
 * process a quarter of the time of undici; the services need the processors.
 */
export interface Pipeline extends Disposable {
  /** Resolves with one answer to each request, in order. Never rejects: a failure is an answer too. One call at a time. */
  send(requests: readonly string[]): Promise<readonly Result[]>;
}

const timeoutMs = 60_000;

/** Connects for the first request, and again after the connection was closed. */
export function openPipeline(origin: string): Pipeline {
  const port = Number(new URL(origin).port);
  let client: RawClient | undefined;

  function close(): void {
    client?.[Symbol.dispose]();
    client = undefined;
  }

  return {
    async send(requests) {
      const sentAtMs = nowMs();
      if (client?.isClosed()) close();
      client ??= openRawClient(port);
      // A surplus answer would be taken for the first answer of these requests, and move every answer after it.
      if (client.answers().length > 0) return requests.map(() => noAnswer(sentAtMs, "a surplus answer came before"));
      client.write(requests.join(""));
      await client.until(requests.length, timeoutMs);
      const received = client.take(requests.length);
      const end = client.wasReset() ? "reset" : "closed";
      const reason = client.isClosed() ? end : `silent for ${timeoutMs / 1_000} s`;
      const isClosing = received.at(-1)?.headers.connection === "close";
      if (isClosing || received.length < requests.length) close();
      const unanswered = requests.slice(received.length).map(() => noAnswer(sentAtMs, reason));
      return [...received.map(resultOf), ...unanswered];
    },
    [Symbol.dispose]: close,
  };
}
