import { type GuideSection, guideLink } from "./guide-sections.js";

/** The result of one check, and advice if something should change. */
export interface Finding {
  readonly check: string;
  /**
   * A fault keeps the store from doing what it promises; a warning will, or costs something. A skipped check could not be made,
   * and `found` says why.
   */
  readonly status: "ok" | "skipped" | "warning" | "fault";
  readonly found: string;
  readonly advice?: string;
  /** The section of the operations guide, as a path in the repository. */
  readonly guide?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, status: "ok", found };
}

export function skipped(check: string, found: string): Finding {
  return { check, status: "skipped", found };
}

export function warning(check: string, found: string, advice: string, section?: GuideSection): Finding {
  return { check, status: "warning", found, advice, ...(section && { guide: guideLink(section) }) };
}

export function fault(check: string, found: string, advice: string, section?: GuideSection): Finding {
  return { check, status: "fault", found, advice, ...(section && { guide: guideLink(section) }) };
}

/** Windows and bans are told in seconds: clocks that differ by one begin to be seen. */
export const tolerableMs = 1_000;

/** Compares the clock of a server, in epoch milliseconds, with the clock of this machine. */
export async function compareClocks(
  check: string,
  now: () => number,
  readServerClock: () => Promise<number>,
): Promise<Finding> {
  const sentAtMs = now();
  const serverMs = await readServerClock();
  const receivedAtMs = now();
  const offsetMs = Math.round(serverMs - (sentAtMs + receivedAtMs) / 2);
  // The round trip may account for this.
  const uncertaintyMs = Math.ceil((receivedAtMs - sentAtMs) / 2);
  const found = `${Math.abs(offsetMs)} ms ${offsetMs < 0 ? "behind" : "ahead of"} this machine, give or take ${uncertaintyMs}`;
  if (Math.abs(offsetMs) - uncertaintyMs <= tolerableMs) return ok(check, found);
  const advice = "Synchronise both clocks, with chrony or systemd-timesyncd: clients and logs compare their times.";
  return fault(check, found, advice);
}
