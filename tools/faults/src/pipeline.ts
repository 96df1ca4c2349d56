import { connect, type Socket } from "node:net";
import { type Answer, answerOf, noAnswer, nowMs } from "./ask.js";
import { wholeAnswerIn } from "./whole-answer.js";

/**
 * A connection that is asked many things before it has answered the first (RFC 9112, section 9.3.2). It costs this process
 * a quarter of what undici does, and the services less too: the machine is theirs.
 */
export interface Pipeline extends Disposable {
  /** Resolves with an answer to each, in their order. Never rejects: what fails is an exchange too. */
  ask(requests: readonly string[]): Promise<readonly Answer[]>;
}

interface Volley {
  readonly sentAtMs: number;
  readonly count: number;
  readonly answers: Answer[];
  readonly resolve: (answers: readonly Answer[]) => void;
}

const timeoutMs = 60_000;

/** Connects when it is asked, and again where it was closed. One volley at a time. */
export function openPipeline(origin: string): Pipeline {
  const { hostname: host, port } = new URL(origin);
  let socket: Socket | undefined;
  let volley: Volley | undefined;
  let surplus: unknown;

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
    while (volley !== undefined) add(noAnswer(volley.sentAtMs, reason));
  }

  /** The rest is what is not whole yet. */
  function take(received: Buffer): Buffer {
    let start = 0;
    while (volley !== undefined) {
      const whole = wholeAnswerIn(received, start);
      if (whole === undefined) break;
      start = whole.end;
      add(answerOf({ sentAtMs: volley.sentAtMs, ...whole }));
      if (volley === undefined && whole.headers.connection === "close") hangUp();
    }
    // Taken for the first answer of the next volley, it would be credited to the wrong request, and all others after it.
    if (volley === undefined && start < received.length) surplus = "there was an answer too many before";
    return received.subarray(start);
  }

  /** What is asked next has another connection: this one is about to be closed. */
  function hangUp(): void {
    socket?.destroy();
    socket = undefined;
  }

  function add(answer: Answer): void {
    if (volley === undefined) return;
    const { answers, count, resolve } = volley;
    answers.push(answer);
    if (answers.length < count) return;
    volley = undefined;
    resolve(answers);
  }

  return {
    ask: (requests) =>
      new Promise((resolve) => {
        volley = { sentAtMs: nowMs(), count: requests.length, answers: [], resolve };
        if (surplus !== undefined) return fail(surplus);
        socket ??= open();
        socket.write(requests.join(""));
      }),
    [Symbol.dispose]: hangUp,
  };
}
