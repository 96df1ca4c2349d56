import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, answerOf, nowMs } from "./ask.js";

export interface RawAnswer extends Answer {
  /** How often a field of that name is in it. */
  count(header: string): number;
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

const patienceMs = 5_000;

export function openRawClient(port: number): RawClient {
  const startMs = nowMs();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const answers: RawAnswer[] = [];
  let rest = "";
  let isClosed = false;
  let isReset = false;
  socket.on("data", (chunk: Buffer) => {
    rest += chunk.toString("latin1");
    for (let next = takeAnswer(rest, startMs); next !== undefined; next = takeAnswer(rest, startMs)) {
      answers.push(next.answer);
      rest = next.rest;
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
    async until(count, withinMs = patienceMs) {
      const sinceMs = performance.now();
      while (answers.length < count && !isClosed && performance.now() - sinceMs < withinMs) await sleep(2);
    },
    wasReset: () => isReset,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** `undefined` while the first answer is not whole. Every answer of the store tells its length. */
function takeAnswer(text: string, sentAtMs: number): { readonly answer: RawAnswer; readonly rest: string } | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const headers = Object.fromEntries(fields);
  const end = headEnd + 4 + Number(headers["content-length"] ?? 0);
  if (text.length < end) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const answer = answerOf({ sentAtMs, status, headers, text: text.slice(headEnd + 4, end) });
  return {
    answer: { ...answer, count: (header) => fields.filter(([name]) => name === header.toLowerCase()).length },
    rest: text.slice(end),
  };
}
