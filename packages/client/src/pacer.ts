/**
 * Who may send now, and in which order. Bottleneck 2.19.5 holds the queue, local and without a reservoir interval: those
 * tick every 250 ms and drift. Its reservoir is given what the gate allows, as differences, because it takes them a tick
 * later, when others may have been given meanwhile; a job that comes too late for its unit goes back to the front. Nor
 * its highWater and expiration: a call that was aborted stays in its queue, and every request ends by its own timeout.
 */
import Bottleneck from "bottleneck/light.js";
import type { Gate, News } from "./gate.js";
import { PetStoreError } from "./pet-store-error.js";

export interface PacerOptions {
  readonly gate: Gate;
  readonly maxConcurrent: number;
  /** Calls that wait at once; one more is rejected with QUEUE_FULL. */
  readonly maxQueued: number;
}

interface Turn {
  /** Goes before calls that were not sent yet. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

export interface Pacer {
  /**
   * Sends when it is this call's turn, and resolves with what came of it. Rejects with the signal's reason, with
   * QUEUE_FULL, or with the refusal that closed the gate, and with what `send` rejects.
   */
  run<T extends News>(send: () => Promise<T>, turn: Turn): Promise<T>;
}

/** Bottleneck's, 0 first. */
const priorities = { returned: 3, retry: 4, new: 5 };

export function createPacer({ gate, maxConcurrent, maxQueued }: PacerOptions): Pacer {
  const limiter = new Bottleneck({ maxConcurrent, reservoir: 0 }).on("error", rejectWaiting);
  /** How each waiting call is rejected. A call that was aborted is not here any more; its job still is in the queue. */
  const waiting = new Set<(error: unknown) => void>();
  let jobs = 0;
  /** Units given to the reservoir and not used by a job that has started. */
  let given = 0;
  let wakeUp: ReturnType<typeof setTimeout> | undefined;

  function rejectWaiting(error: unknown): void {
    for (const reject of waiting) reject(error);
    waiting.clear();
  }

  /** To be called after whatever changes the gate or the queue. */
  function give(): void {
    clearTimeout(wakeUp);
    const closedBy = gate.closedBy();
    if (closedBy !== undefined) rejectWaiting(closedBy);
    const owed = Math.min(gate.free(), waiting.size) - given;
    if (owed !== 0) {
      given += owed;
      limiter.incrementReservoir(owed).catch(rejectWaiting);
    }
    // Only while someone waits, so that an idle client keeps no process alive.
    if (waiting.size > 0 && gate.opensInMs() > 0) wakeUp = setTimeout(give, gate.opensInMs());
  }

  function enqueue(priority: number, job: () => Promise<void>, reject: (error: unknown) => void): void {
    jobs += 1;
    limiter.schedule({ id: `${jobs}`, priority }, job).catch(reject);
  }

  return {
    run: (send, { isRetry, signal }) =>
      new Promise((resolve, reject) => {
        const fault = signal.aborted ? signal.reason : (gate.closedBy() ?? overflow());
        if (fault !== undefined) {
          reject(fault);
          return;
        }
        const job = async (): Promise<void> => {
          given -= 1;
          if (!waiting.has(reject)) {
            give();
            return;
          }
          if (gate.free() === 0) {
            enqueue(priorities.returned, job, reject);
            give();
            return;
          }
          waiting.delete(reject);
          signal.removeEventListener("abort", leave);
          const request = gate.start();
          give();
          try {
            const news = await send();
            gate.end(request, news);
            resolve(news);
          } catch (error) {
            gate.end(request, undefined);
            reject(error);
          }
          give();
        };
        const leave = (): void => {
          waiting.delete(reject);
          reject(signal.reason);
          give();
        };
        waiting.add(reject);
        signal.addEventListener("abort", leave, { once: true });
        enqueue(isRetry ? priorities.retry : priorities.new, job, reject);
        give();
      }),
  };

  function overflow(): PetStoreError | undefined {
    if (waiting.size < maxQueued) return undefined;
    return new PetStoreError("QUEUE_FULL", `${maxQueued} calls are waiting for their turn already.`);
  }
}
