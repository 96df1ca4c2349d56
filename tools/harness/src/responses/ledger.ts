/** Remembers creates with unique names, to compare them with the stored pets later. */
export interface CreateLedger {
  /** Every name that a request has asked for. */
  readonly asked: ReadonlySet<string>;
  /** Names that the service has confirmed with a success. */
  readonly acknowledged: ReadonlySet<string>;
  ask(name: string): void;
  acknowledge(name: string): void;
  /** `stored` has the number of rows of every stored name. */
  compare(stored: ReadonlyMap<string, number>): LedgerFigures;
}

export interface LedgerFigures {
  readonly acknowledged: number;
  /** Names asked for and never acknowledged. */
  readonly failed: number;
  /** Rows above one for one name, whether the create was acknowledged or not. */
  readonly duplicates: number;
  /** Names acknowledged and not stored. */
  readonly lost: number;
}

export function createLedger(): CreateLedger {
  const asked = new Set<string>();
  const acknowledged = new Set<string>();
  return {
    asked,
    acknowledged,
    ask: (name) => void asked.add(name),
    acknowledge: (name) => void acknowledged.add(name),
    compare(stored) {
      const counts = [...asked].map((name) => stored.get(name) ?? 0);
      return {
        acknowledged: acknowledged.size,
        failed: asked.size - acknowledged.size,
        duplicates: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
        lost: [...acknowledged].filter((name) => !stored.has(name)).length,
      };
    },
  };
}
