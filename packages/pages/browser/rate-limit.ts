/** One window as an answer reports it. */
export interface WindowReading {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds, from when the answer was written. */
  readonly resetInSeconds: number;
}

/** Both windows, from the RateLimit and RateLimit-Policy fields; `undefined` when either does not say. */
export function readWindow(headers: Headers, window: "minute" | "day"): WindowReading | undefined {
  const policy = new RegExp(`"${window}";q=(\\d+)`).exec(headers.get("RateLimit-Policy") ?? "");
  const current = new RegExp(`"${window}";r=(\\d+);t=(\\d+)`).exec(headers.get("RateLimit") ?? "");
  if (policy === null || current === null) return undefined;
  return { limit: Number(policy[1]), remaining: Number(current[1]), resetInSeconds: Number(current[2]) };
}
