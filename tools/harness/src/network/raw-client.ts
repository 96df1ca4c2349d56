import { connect, type Socket } from "node:net";
import { type Answer, type HttpAnswer, nowMs, readAnswer } from "./answer.js";

/** A client that sends exactly the given bytes and splits the received bytes into answers. */
export interface RawClient extends Disposable {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** Resolves when all bytes have left, or cannot leave any more. */
  send(bytes: string | Buffer): Promise<void>;
  /** Includes interim answers (1xx). The caller may remove answers. */
  answers(): HttpAnswer[];
  /** Waits for this number of answers, for the server to close its side, or for the timeout. One call at a time. */
  until(answers: number, timeoutMs?: number): Promise<void>;
  /** Resolves with this number of answers. Rejects when the server closes its side before. */
  received(count: number): Promise<readonly HttpAnswer[]>;
  /** Resolves when the server has closed its side, with FIN or RST. */
  readonly closed: Promise<void>;
  isClosed(): boolean;
  /** True after the server has ended the connection with RST, which can lose an answer. */
  wasReset(): boolean;
}

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as bytes on a connection, with these header lines added. */
export function bytesOf({ method, path, headers = {}, body }: HttpRequest, lines = ""): string {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: pets.example\r\n${own.join("")}${length}${lines}\r\n${body ?? ""}`;
}

const answerTimeoutMs = 5_000;

export function openRawClient(port: number): RawClient {
  let sentAtMs = nowMs();
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  const answers: HttpAnswer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isClosed = false;
  let isReset = false;
  let onChange = (): void => {};
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let next = wholeAnswerIn(rest); next !== undefined; next = wholeAnswerIn(rest)) {
      answers.push(readAnswer(next, sentAtMs));
      rest = rest.subarray(next.end);
    }
    onChange();
  });
  socket.on("error", () => {
    isReset = true;
  });
  const closed = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) {
      socket.once(event, () => {
        isClosed = true;
        resolve();
        onChange();
      });
    }
  });
  const until = (count: number, timeoutMs = answerTimeoutMs): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      onChange = () => {
        if (answers.length < count && !isClosed) return;
        clearTimeout(timer);
        resolve();
      };
      onChange();
    });
  const write = (bytes: string | Buffer, onWritten?: () => void): void => {
    sentAtMs = nowMs();
    socket.write(bytes, onWritten);
  };
  return {
    socket,
    closed,
    isClosed: () => isClosed,
    write: (bytes) => write(bytes),
    send: (bytes) => new Promise((resolve) => write(bytes, resolve)),
    answers: () => answers,
    until,
    async received(count) {
      await until(count, 60_000);
      if (answers.length < count) throw new Error(`Received ${answers.length} of ${count} answers`);
      return answers;
    },
    wasReset: () => isReset,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

interface WholeAnswer extends Answer {
  /** The offset of the next answer. */
  readonly end: number;
}

const headEnd = "\r\n\r\n";

/** Returns `undefined` while the first answer is not complete. The answer must have a Content-Length. */
function wholeAnswerIn(received: Buffer): WholeAnswer | undefined {
  const headLength = received.indexOf(headEnd);
  if (headLength < 0) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", 0, headLength).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const bodyStart = headLength + headEnd.length;
  const end = bodyStart + Number(headers["content-length"] ?? 0);
  if (received.length < end) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  return { status, headers, text: received.toString("utf8", bodyStart, end), end };
}
