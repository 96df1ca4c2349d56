import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type HttpAnswer, nowMs, readAnswer } from "./answer.js";

export interface RawAnswer extends HttpAnswer {
  /** Every header line in order, with its name in lower case. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** A client that sends exactly the given bytes and splits the received bytes into answers. */
export interface RawClient extends Disposable {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** Resolves when all bytes have left, or cannot leave any more. */
  send(bytes: string | Buffer): Promise<void>;
  /** Closes only the sending side. */
  end(): void;
  /** Ends the connection with RST. */
  reset(): void;
  /** Includes interim answers (1xx). */
  answers(): readonly RawAnswer[];
  /** Waits for this number of answers, for the server to close its side, or for the timeout. */
  until(answers: number, timeoutMs?: number): Promise<void>;
  /** Resolves with this number of answers. Rejects when the server closes its side before. */
  received(count: number): Promise<readonly RawAnswer[]>;
  /** Resolves when the server has closed its side, with FIN or RST. */
  readonly closed: Promise<void>;
  /** True after the server has ended the connection with RST, which can lose an answer. */
  wasReset(): boolean;
}

/** An answer that is complete in a buffer. */
export interface WholeAnswer extends Answer, Pick<RawAnswer, "fields"> {
  /** The offset of the next answer. */
  readonly end: number;
}

const timeoutMs = 5_000;

export function openRawClient(port: number, host = "127.0.0.1"): RawClient {
  const sentAtMs = nowMs();
  const socket = connect({ host, port, noDelay: true, allowHalfOpen: true });
  const answers: RawAnswer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  let isReset = false;
  let onAnswers = (): void => {};
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let next = wholeAnswerIn(rest, 0); next !== undefined; next = wholeAnswerIn(rest, 0)) {
      answers.push({ ...readAnswer(next, sentAtMs), fields: next.fields });
      rest = rest.subarray(next.end);
    }
    onAnswers();
  });
  socket.on("error", () => {
    isReset = true;
  });
  const closed = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) socket.once(event, () => resolve());
  });
  void closed.then(() => {
    isClosed = true;
  });
  return {
    socket,
    closed,
    write: (bytes) => void socket.write(bytes),
    send: (bytes) => new Promise((resolve) => socket.write(bytes, () => resolve())),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    answers: () => answers,
    async until(count, withinMs = timeoutMs) {
      const sinceMs = performance.now();
      while (answers.length < count && !isClosed && performance.now() - sinceMs < withinMs) await sleep(2);
    },
    received: (count) =>
      new Promise((resolve, reject) => {
        onAnswers = () => {
          if (answers.length >= count) resolve(answers);
        };
        onAnswers();
        void closed.then(() => reject(new Error(`Closed after ${answers.length} of ${count} answers`)));
      }),
    wasReset: () => isReset,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

const headEnd = "\r\n\r\n";

/** Returns `undefined` while the answer at this offset is not complete. The answer must have a Content-Length. */
export function wholeAnswerIn(received: Buffer, start: number): WholeAnswer | undefined {
  const bodyStart = received.indexOf(headEnd, start) + headEnd.length;
  if (bodyStart < headEnd.length) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", start, bodyStart - headEnd.length).split("\r\n");
  const fields = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of fields) headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  const end = bodyStart + Number(headers["content-length"] ?? 0);
  if (received.length < end) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return { status, fields, headers, text: received.toString("utf8", bodyStart, end), end };
}
