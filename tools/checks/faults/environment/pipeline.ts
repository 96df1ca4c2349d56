import { connect, type Socket } from "node:net";
import { nowMs, wholeAnswerIn } from "@petstore/harness/network";
import { type Answer, answerOf, noAnswer } from "./results.js";

/**
 * A connection that sends several requests before it reads the first answer (RFC 9112, section 9.3.2). It costs this
 * process a quarter of the time of undici; the services need the processors.
 */
export interface Pipeline extends Disposable {
  /** Resolves with one answer to each request, in order. Never rejects: a failure is an answer too. One call at a time. */
  send(requests: readonly string[]): Promise<readonly Answer[]>;
}

interface Batch {
  readonly sentAtMs: number;
  readonly count: number;
  readonly answers: Answer[];
  readonly resolve: (answers: readonly Answer[]) => void;
}

const timeoutMs = 60_000;

/** Connects for the first request, and again after the connection was closed. */
export function openPipeline(origin: string): Pipeline {
  const { hostname: host, port } = new URL(origin);
  let socket: Socket | undefined;
  let batch: Batch | undefined;
  let surplus: string | undefined;

  function open(): Socket {
    const opened = connect({ host, port: Number(port), noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let reason: unknown = "closed";
    opened.setTimeout(timeoutMs, () => opened.destroy(new Error(`silent for ${timeoutMs / 1_000} s`)));
    opened.on("data", (chunk: Buffer) => {
      received = take(received.length === 0 ? chunk : Buffer.concat([received, chunk]));
    });
    opened.on("error", (error) => {
      reason = error;
    });
    opened.once("close", () => {
      if (socket !== opened) return;
      socket = undefined;
      fail(reason);
    });
    return opened;
  }

  function fail(reason: unknown): void {
    while (batch !== undefined) add(noAnswer(batch.sentAtMs, reason));
  }

  /** Returns the bytes of an answer that is not complete. */
  function take(received: Buffer): Buffer {
    let start = 0;
    while (batch !== undefined) {
      const whole = wholeAnswerIn(received, start);
      if (whole === undefined) break;
      start = whole.end;
      add(answerOf({ sentAtMs: batch.sentAtMs, ...whole }));
      if (batch === undefined && whole.headers.connection === "close") close();
    }
    // A surplus answer would be taken for the first answer of the next batch, and move every answer after it.
    if (batch === undefined && start < received.length) surplus = "the server sent a surplus answer before";
    return received.subarray(start);
  }

  /** The server is about to close this connection, so the next batch opens another one. */
  function close(): void {
    socket?.destroy();
    socket = undefined;
  }

  function add(answer: Answer): void {
    if (batch === undefined) return;
    const { answers, count, resolve } = batch;
    answers.push(answer);
    if (answers.length < count) return;
    batch = undefined;
    resolve(answers);
  }

  return {
    send: (requests) =>
      new Promise((resolve) => {
        batch = { sentAtMs: nowMs(), count: requests.length, answers: [], resolve };
        if (surplus !== undefined) return fail(surplus);
        socket ??= open();
        socket.write(requests.join(""));
      }),
    [Symbol.dispose]: close,
  };
}
