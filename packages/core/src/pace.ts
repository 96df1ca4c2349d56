/** How far work that comes in crowds goes on in each turn of the event loop. */
export interface Pace {
  /** Whether what is taken now waits for a later turn. */
  isSpent(): boolean;
  /** Takes a step now or in a later turn, behind all that came before it. Its size is at least 1. */
  take(size: number, step: () => void): void;
  /** How long the first of the steps that wait has waited, in milliseconds; 0 while none does. */
  waitedMs(): number;
}

interface Waiting {
  readonly size: number;
  readonly step: () => void;
  readonly sinceMs: number;
}

/**
 * Steps are taken in the order they came, in each turn until their sizes add up to so much; none while the pace that they
 * lead to is spent.
 */
export function createPace(sizeOfTurn: number, next?: Pick<Pace, "isSpent">): Pace {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let taken = 0;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isScheduled = false;
    taken = 0;
    if (waiting.length > 0) schedule();
    while (waiting.length > 0 && !isFull()) {
      const { size, step } = waiting.shift() as Waiting;
      taken += size;
      step();
    }
  }

  const isFull = () => taken >= sizeOfTurn || next?.isSpent() === true;
  const isSpent = () => waiting.length > 0 || isFull();
  return {
    isSpent,
    take(size, step) {
      schedule();
      if (isSpent()) {
        waiting.push({ size, step, sinceMs: performance.now() });
        return;
      }
      taken += size;
      step();
    },
    waitedMs() {
      const first = waiting[0];
      return first === undefined ? 0 : performance.now() - first.sinceMs;
    },
  };
}
