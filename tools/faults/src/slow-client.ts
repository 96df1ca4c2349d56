import { connect } from "node:net";

export interface SlowClient extends Disposable {
  /** How long the service bore it; absent while it still does. */
  readonly cutAfterMs: number | undefined;
  /** From now on reads like any client: one that does not read does not learn that it was cut. */
  readAll(): void;
}

export interface Slowness {
  /** Sent when it is connected. */
  readonly opening: string;
  /** Sent again and again after that. */
  readonly drip?: string;
  /** Reads so many bytes each time, and otherwise everything. */
  readonly sip?: number;
}

const everyMs = 1_000;

/** A client that holds a connection for as long as it may, and does next to nothing on it. */
export function openSlowClient(port: number, { opening, drip, sip }: Slowness): SlowClient {
  const startMs = performance.now();
  let cutAfterMs: number | undefined;
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(opening));
  if (sip === undefined) socket.resume();
  else socket.pause();
  const timer = setInterval(() => {
    if (drip !== undefined && socket.writable) socket.write(drip);
    if (sip !== undefined) socket.read(sip);
  }, everyMs);
  const end = () => {
    cutAfterMs ??= performance.now() - startMs;
    clearInterval(timer);
    socket.destroy();
  };
  // Cut by a FIN, or by a reset where it was still sending.
  socket.on("error", () => {});
  socket.once("end", end);
  socket.once("close", end);
  return {
    get cutAfterMs() {
      return cutAfterMs;
    },
    readAll: () => void socket.resume(),
    [Symbol.dispose]: end,
  };
}
