import { expect, it } from "vitest";
import { createLedger } from "./ledger.js";

it("counts lost creates and duplicates", () => {
  const ledger = createLedger();
  for (const name of ["stored", "lost", "refused", "refused twice"]) ledger.ask(name);
  for (const name of ["stored", "lost"]) ledger.acknowledge(name);
  const stored = new Map([
    ["stored", 1],
    ["refused twice", 2],
  ]);
  expect(ledger.compare(stored)).toEqual({ acknowledged: 2, failed: 2, duplicates: 1, lost: 1 });
});
