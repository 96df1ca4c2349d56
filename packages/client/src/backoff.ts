/** Before the first retry at most so long. */
const firstMs = 1_000;
const longestMs = 30_000;

/** Full jitter: anything up to 0.5 s x 2^n before the n-th retry, at most 30 s. */
export function fullJitterMs(retry: number, random: () => number): number {
  return random() * Math.min(longestMs, firstMs * 2 ** (retry - 1));
}

/** Resolves after so long; rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
