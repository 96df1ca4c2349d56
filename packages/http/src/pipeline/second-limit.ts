import { Problem } from "@petstore/core";

/** Limits a free path for each key: `limitKey` of a resource. Beyond the limit of a second, the problem has this message. */
export function createSecondLimit(
  perSecond: number,
  message: string,
  monotonicNow: () => number,
): (keyId: bigint) => Problem | undefined {
  /** Only those of the present second. */
  const counts = new Map<bigint, number>();
  let second = Number.NEGATIVE_INFINITY;
  return (keyId) => {
    const present = Math.floor(monotonicNow() / 1_000);
    if (present !== second) counts.clear();
    second = present;
    const count = (counts.get(keyId) ?? 0) + 1;
    counts.set(keyId, count);
    return count > perSecond ? new Problem("RATE_LIMIT_EXCEEDED", message, { retryAfterSeconds: 1 }) : undefined;
  };
}
