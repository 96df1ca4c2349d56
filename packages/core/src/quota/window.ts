/** Fixed windows, aligned to the UTC clock. An engine stores the *used* units, so that a change of plan keeps the usage. */
export const minuteMs = 60_000;
export const dayMs = 86_400_000;

export interface WindowState extends UsedUnits {
  readonly limit: number;
}

/** The units used in one window. `resetAtMs` is the first instant of the next window, in epoch milliseconds. */
export interface UsedUnits {
  readonly used: number;
  readonly resetAtMs: number;
}

/** Both windows of an account at `nowMs`, on the clock of the engine that decided. */
export interface Windows {
  readonly nowMs: number;
  readonly minute: WindowState;
  readonly day: WindowState;
}

/**
 * `stored` is the last window in which units were reserved. It stays current until it ends. If the clock steps back into the
 * window before it, the later window still stays current; otherwise its units could be granted twice.
 */
export function windowAt(nowMs: number, lengthMs: number, stored: UsedUnits, limit: number): WindowState {
  const resetAtMs = nowMs - (nowMs % lengthMs) + lengthMs;
  const isCurrent = stored.resetAtMs >= resetAtMs && stored.resetAtMs - resetAtMs <= lengthMs;
  return isCurrent ? { limit, ...stored } : { limit, used: 0, resetAtMs };
}
