/** The state of one window in a response. */
export interface WindowReading {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds from the response to the reset. */
  readonly resetInSeconds: number;
}

/** Reads a window from the RateLimit and RateLimit-Policy headers; `undefined` if one of them does not contain it. */
export function readWindow(headers: Headers, window: "minute" | "day"): WindowReading | undefined {
  const policy = new RegExp(`"${window}";q=(\\d+)`).exec(headers.get("RateLimit-Policy") ?? "");
  const current = new RegExp(`"${window}";r=(\\d+);t=(\\d+)`).exec(headers.get("RateLimit") ?? "");
  if (policy === null || current === null) return undefined;
  return { limit: Number(policy[1]), remaining: Number(current[1]), resetInSeconds: Number(current[2]) };
}
