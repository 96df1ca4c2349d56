import type { Check } from "../section.js";

export interface Audited {
  /** Names the audit whatever its wording. */
  readonly id: string;
  readonly name: string;
  /** Absent when the audit passed. */
  readonly fault: string | undefined;
}

/** Audits this API fails on purpose, by their ids, and why. At most three. */
export const deviations: Readonly<Record<string, string>> = {};

export function judge({ id, name, fault }: Audited, meant: Readonly<Record<string, string>> = deviations): Check {
  const reason = meant[id];
  const check = { name: `${id} ${name}` };
  if (reason === undefined) return { ...check, differences: fault === undefined ? [] : [fault] };
  if (fault === undefined) return { ...check, differences: ["passes, though it is listed as a deviation"] };
  return { ...check, differences: [], byDesign: [reason] };
}
