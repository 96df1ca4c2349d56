import type { Limits } from "./plan.js";

/** The bans and strikes of keys, as an operator sees them. Reads only, and costs no unit. */
export interface Penalties {
  /** Those of the keys that are banned or have strikes now, in no order. `keys` are lineages, as in `Reservation`. */
  penalties(query: {
    readonly account: string;
    readonly keys: readonly string[];
    readonly limits: Limits;
  }): Promise<readonly KeyPenalty[]>;
  /** All keys that are banned now, in no order. */
  bans(): Promise<readonly Ban[]>;
}

export interface KeyPenalty {
  readonly key: string;
  /** The age of the ban or, without one, of the episode. A later lift ends it when an instance reads the key again. */
  readonly sinceMs: number;
  /** The end of the ban. Absent if the key is not banned now. */
  readonly bannedUntilMs?: number;
  /** The strikes of the present episode. A ban begins without strikes. */
  readonly strikes: number;
  /** The number of strikes that bans the key. 0 if bans are switched off. */
  readonly strikesThatBan: number;
}

export interface Ban {
  readonly account: string;
  readonly key: string;
  readonly bannedUntilMs: number;
  /** The age of the ban. */
  readonly sinceMs: number;
}
