/**
 * Decides whether the shared quota is asked at all. The first call that fails opens it: from then on nothing is sent but
 * a probe, which no request waits for, until that succeeds. So an outage costs the requests under way one deadline,
 * once, and the others nothing.
 */
import { ReplyError } from "ioredis";
import type { Log } from "../../../log.js";
import { timeoutAfterReading } from "../../../timeout-after-reading.js";

export interface BreakerOptions {
  readonly connection: SharedConnection;
  /** Tries what has failed: a call like any other, a write, to the server that holds the account `suspect`. */
  readonly probe: (suspect: string) => Promise<unknown>;
  /** How long a call may take. */
  readonly deadlineMs: number;
  readonly log: Log;
}

export interface SharedConnection {
  /** Whether commands can be sent at this moment. */
  isReady(): boolean;
  /** Called at every loss, because what comes back may have forgotten everything, also while nobody asked. */
  onLoss(listener: () => void): void;
  /** Drops the connection, and whatever waits on it, for a new one. */
  reconnect(): void;
}

export interface Breaker extends Disposable {
  /** Whether the shared quota is to be left alone. */
  isOpen(): boolean;
  /** Makes a call about an account. Rejects when it fails or takes too long, and is open from then on. */
  ask<Answer>(account: string, call: () => Promise<Answer>): Promise<Answer>;
  /** How often it has opened. */
  readonly outages: number;
}

const probeIntervalMs = 250;

export function createBreaker({ connection, probe, deadlineMs, log }: BreakerOptions): Breaker {
  let isOpen = false;
  let isDisposed = false;
  let outages = 0;
  let suspect = "";
  let nextProbe: NodeJS.Timeout | undefined;

  function open(account: string, error?: unknown): void {
    if (isOpen || isDisposed) return;
    isOpen = true;
    outages += 1;
    suspect = account;
    log.warn({ error }, "Redis is away: quotas are not shared");
    dropUnlessAnswered(error);
    probeLater();
  }

  /**
   * An answer, even an error, shows that the connection lives. Without one, whoever waits on it would wait out a deadline
   * of their own, and a stopped server would execute later whatever is still sent. A connection that was lost is replaced
   * without us.
   */
  function dropUnlessAnswered(error: unknown): void {
    if (error !== undefined && !(error instanceof ReplyError)) connection.reconnect();
  }

  function probeLater(): void {
    if (!isDisposed) nextProbe = setTimeout(probeNow, probeIntervalMs).unref();
  }

  function probeNow(): void {
    if (!connection.isReady()) {
      probeLater();
      return;
    }
    within(deadlineMs, probe(suspect)).then(close, (error: unknown) => {
      dropUnlessAnswered(error);
      probeLater();
    });
  }

  function close(): void {
    isOpen = false;
    if (!isDisposed) log.info({}, "Redis is back: quotas are shared again");
  }

  connection.onLoss(() => open(""));
  return {
    isOpen() {
      // Asked before every call, so that none fails of which one could not tell whether it was sent.
      if (!isOpen && !connection.isReady()) open("");
      return isOpen;
    },
    async ask(account, call) {
      try {
        return await within(deadlineMs, call());
      } catch (error) {
        open(account, error);
        throw error;
      }
    },
    get outages() {
      return outages;
    },
    [Symbol.dispose]() {
      isDisposed = true;
      clearTimeout(nextProbe);
    },
  };
}

/** Rejects where there is no answer at the deadline. */
function within<Answer>(deadlineMs: number, call: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${deadlineMs} ms`));
    const timer = timeoutAfterReading(giveUp, deadlineMs);
    call.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
