import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, answerOf, nowMs } from "./ask.js";
import { wholeAnswerIn } from "./whole-answer.js";

export interface RawAnswer extends Answer {
  /** How often a field of that name is in it. */
  count(header: string): number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that sends what it is told, byte for byte, and splits what it receives into answers. */
export interface RawClient extends Disposable {
  /** Resolves when all of it has left, or cannot leave any more. */
  send(bytes: string | Buffer): Promise<void>;
  /** Closes the sending side alone. */
  end(): void;
  /** Ends the connection by RST. */
  reset(): void;
  /** Interim answers (1xx) included. */
  answers(): readonly RawAnswer[];
  /** Waits until so many answers have come or the server has closed its side, but no longer than that. */
  until(answers: number, withinMs?: number): Promise<void>;
  /** Whether it was cut by RST, with which an answer may be lost. */
  wasReset(): boolean;
}

const timeoutMs = 5_000;

export function openRawClient(port: number): RawClient {
  const startMs = nowMs();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const answers: RawAnswer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  let isReset = false;
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let next = wholeAnswerIn(rest, 0); next !== undefined; next = wholeAnswerIn(rest, 0)) {
      const { fields, end } = next;
      const count = (header: string) => fields.filter(([name]) => name === header.toLowerCase()).length;
      answers.push({ ...answerOf({ sentAtMs: startMs, ...next }), count, headers: next.headers });
      rest = rest.subarray(end);
    }
  });
  socket.on("error", () => {
    isReset = true;
  });
  for (const event of ["end", "close"]) {
    socket.once(event, () => {
      isClosed = true;
    });
  }
  return {
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    answers: () => answers,
    async until(count, withinMs = timeoutMs) {
      const sinceMs = performance.now();
      while (answers.length < count && !isClosed && performance.now() - sinceMs < withinMs) await sleep(2);
    },
    wasReset: () => isReset,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
