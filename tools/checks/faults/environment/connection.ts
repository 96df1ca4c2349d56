import { nowMs, openRawClient, type RawClient } from "@petstore/harness/network";
import { noAnswer, type Result, resultOf } from "./results.js";

/** A connection of a client. It costs this process a quarter of the time of undici; the services need the processors. */
export interface Connection extends Disposable {
  /** Never rejects: a failure is an answer too. One call at a time. */
  send(origin: string, request: string): Promise<Result>;
}

const timeoutMs = 60_000;

/** Connects for the first request, and again to another server or after the connection was closed. */
export function openConnection(): Connection {
  let client: RawClient | undefined;
  let connectedTo = "";

  function close(): void {
    client?.[Symbol.dispose]();
    client = undefined;
  }

  return {
    async send(origin, request) {
      const sentAtMs = nowMs();
      if (client?.isClosed() || connectedTo !== origin) close();
      client ??= openRawClient(Number(new URL(origin).port));
      connectedTo = origin;
      // A surplus answer would be taken for the answer of this request, and move every answer after it.
      if (client.answers().length > 0) return noAnswer(sentAtMs, "a surplus answer came before");
      client.write(request);
      await client.until(1, timeoutMs);
      const [answer] = client.answers().splice(0, 1);
      const end = client.wasReset() ? "reset" : "closed";
      const reason = client.isClosed() ? end : `silent for ${timeoutMs / 1_000} s`;
      if (answer === undefined || answer.headers.connection === "close") close();
      return answer === undefined ? noAnswer(sentAtMs, reason) : resultOf(answer);
    },
    [Symbol.dispose]: close,
  };
}
