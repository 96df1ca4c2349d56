/** The clock of the shared quota, as this process knows it: its own, set right by every answer. */
export interface SharedClock {
  /** Epoch milliseconds, whole. */
  now(): number;
  observe(sharedNowMs: number): void;
}

/** `now` is the clock of this machine. */
export function createSharedClock(now: () => number): SharedClock {
  let offsetMs = 0;
  return {
    now: () => now() + offsetMs,
    observe(sharedNowMs) {
      offsetMs = sharedNowMs - now();
    },
  };
}
