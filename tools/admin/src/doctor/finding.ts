/** The result of one check, and advice if something should change. */
export interface Finding {
  readonly check: string;
  /** A fault keeps the store from doing what it promises; a warning will, or costs something. */
  readonly status: "ok" | "warning" | "fault";
  readonly found: string;
  readonly advice?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, status: "ok", found };
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, status: "warning", found, advice };
}

export function fault(check: string, found: string, advice: string): Finding {
  return { check, status: "fault", found, advice };
}

/** Windows and bans are told in seconds: clocks that differ by one begin to be seen. */
const tolerableMs = 1_000;

export function compareClocks(
  check: string,
  { clockOffsetMs, clockUncertaintyMs }: { readonly clockOffsetMs: number; readonly clockUncertaintyMs: number },
): Finding {
  const found = `${Math.abs(clockOffsetMs)} ms ${clockOffsetMs < 0 ? "behind" : "ahead of"} this machine, give or take ${clockUncertaintyMs}`;
  if (Math.abs(clockOffsetMs) - clockUncertaintyMs <= tolerableMs) return ok(check, found);
  return fault(
    check,
    found,
    "Synchronise both clocks, with chrony or systemd-timesyncd: clients and logs compare their times.",
  );
}
