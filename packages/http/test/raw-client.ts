import { connect, type Socket } from "node:net";

interface RawResponse {
  readonly status: number;
  /** Names in lower case; a repeated field's values joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A client that sends what it is told, byte for byte, and splits what it receives into responses. */
export interface RawClient extends Disposable {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  responses(): RawResponse[];
  /** Resolves when `count` whole responses have come. Rejects when the connection ends before. */
  received(count: number): Promise<RawResponse[]>;
  /** Resolves when the server has closed its side, by FIN or RST. */
  readonly closed: Promise<void>;
}

export function rawClient(port: number): RawClient {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, allowHalfOpen: true });
  let text = "";
  let check: (() => void) | undefined;
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    check?.();
  });
  // A reset is one of the things to be observed; 'close' follows.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once("end", resolve);
    socket.once("close", () => resolve());
  });
  const responses = () => parseResponses(text);
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    responses,
    received: (count) =>
      new Promise((resolve, reject) => {
        check = () => {
          if (responses().length >= count) resolve(responses());
        };
        check();
        void closed.then(() => reject(new Error(`closed after ${responses().length} of ${count} responses`)));
      }),
    closed,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd === -1) return responses;
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    if (!/^HTTP\/1\.1 \d{3} /.test(statusLine)) throw new Error(`not a response: ${rest}`);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(": ");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 2);
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    const bodyStart = headEnd + 4;
    const bodyEnd = bodyStart + Number(headers["content-length"] ?? 0);
    if (rest.length < bodyEnd) return responses;
    responses.push({ status: Number(statusLine.slice(9, 12)), headers, body: rest.slice(bodyStart, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
}
