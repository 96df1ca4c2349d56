/** The longest delay before the first retry. */
const firstMs = 1_000;
const longestMs = 30_000;

/** Full jitter: a random delay of up to 1 s before retry 1, doubled with each further retry, at most 30 s. */
export function fullJitterMs(retry: number, random: () => number): number {
  return random() * Math.min(longestMs, firstMs * 2 ** (retry - 1));
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
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
