/** How far work that comes in crowds goes on in each turn of the event loop. */
export interface Pace {
  /** Whether what is taken now waits for a later turn. */
  isSpent(): boolean;
  /** Takes the next step now or in a later turn, behind all that came before it. Its size is at least 1. */
  take(size: number, step: () => void): void;
  /** How long the first of the steps that wait has waited, in milliseconds; 0 while none does. */
  waitedMs(): number;
}

interface Waiting {
  readonly size: number;
  readonly step: () => void;
  readonly sinceMs: number;
}

/** Steps are taken in the order they came, in each turn until their sizes add up to so much. */
export function createPace(sizeOfTurn: number): Pace {
  const waiting: Waiting[] = [];
  let taken = 0;

  function beginTurn(): void {
    taken = 0;
    let count = 0;
    for (const { size } of waiting) {
      if (taken >= sizeOfTurn) break;
      taken += size;
      count += 1;
    }
    if (count > 0) setImmediate(beginTurn);
    for (const { step } of waiting.splice(0, count)) step();
  }

  const isSpent = () => taken >= sizeOfTurn;
  return {
    isSpent,
    take(size, step) {
      if (isSpent()) {
        waiting.push({ size, step, sinceMs: performance.now() });
        return;
      }
      if (taken === 0) setImmediate(beginTurn);
      taken += size;
      step();
    },
    waitedMs() {
      const first = waiting[0];
      return first === undefined ? 0 : performance.now() - first.sinceMs;
    },
  };
}
