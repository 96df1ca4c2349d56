import { Problem } from "@petstore/core";

/**
 * Limits a free path for each key. The returned function counts one request of the key. Beyond the limit of a second it throws
 * RATE_LIMIT_EXCEEDED with this message. It is called after admission, so such a refusal is not a strike.
 */
export function createSecondLimit(
  perSecond: number,
  message: string,
  monotonicNow: () => number,
): (keyId: bigint) => void {
  /** Of the present second only. */
  const counts = new Map<bigint, number>();
  let second = Number.NEGATIVE_INFINITY;
  return (keyId) => {
    const present = Math.floor(monotonicNow() / 1_000);
    if (present !== second) counts.clear();
    second = present;
    const count = (counts.get(keyId) ?? 0) + 1;
    if (count > perSecond) throw new Problem("RATE_LIMIT_EXCEEDED", message, { retryAfterSeconds: 1 });
    counts.set(keyId, count);
  };
}
