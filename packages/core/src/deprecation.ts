/** GET /pets/{petId} is deprecated and will be removed on 5 December 2030 (contract, "Versioning"). */
export const deprecatedAtMs: number = Date.UTC(2026, 10, 20);
export const removedAtMs: number = Date.UTC(2030, 11, 5);

/** A time before the removal in which an operator has GET /pets/{petId} refused, so that its callers notice. */
export interface Brownout {
  readonly startMs: number;
  /** A request at this moment is served. */
  readonly endMs: number;
}
