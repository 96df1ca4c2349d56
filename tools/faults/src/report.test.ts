import { expect, it } from "vitest";
import { atMost } from "./measure.js";
import { formatReport, isFailed, isPassed, type Row } from "./report.js";
import type { Scenario } from "./scenario.js";

const scenario: Scenario = { group: "postgres", name: "killed", cause: "", expected: "", run: async () => [] };
const clean = { lost: 0, dup: 0, over: 0, hdr: 0, hang: 0, leak: 0, failed: 0 };

function row(
  oracles: Partial<typeof clean>,
  { mayFail, measured = 1 }: { mayFail?: true; measured?: number } = {},
): Row {
  return {
    scenario: mayFail === undefined ? scenario : { ...scenario, mayFail },
    seconds: 1,
    requests: 1,
    checks: [atMost(1, "slowest", measured)],
    oracles: { ...clean, ...oracles },
    failures: [],
  };
}

it("passes where every number holds", () => {
  expect(isPassed(row({}))).toBe(true);
});

it.each(["lost", "dup", "over", "hdr", "hang", "leak", "failed"] as const)("fails for one %s", (name) => {
  expect(isPassed(row({ [name]: 1 }))).toBe(false);
});

it("passes with requests that failed where the fault is theirs, and with nothing else", () => {
  expect(isPassed(row({ failed: 1 }, { mayFail: true }))).toBe(true);
  expect(isPassed(row({ failed: 1, lost: 1 }, { mayFail: true }))).toBe(false);
  expect(isPassed(row({}, { mayFail: true, measured: 2 }))).toBe(false);
});

it("fails where it could not be played", () => {
  expect(isPassed({ scenario, seconds: 0, error: "no haproxy" })).toBe(false);
});

it("neither passes nor fails where the machine has no way to play it, and says why", () => {
  const skipped: Row = { scenario, seconds: 0, skipped: "only root may" };
  expect([isPassed(skipped), isFailed(skipped)]).toEqual([false, false]);
  expect(formatReport([skipped])).toMatch(/killed .* skipped\n {4}only root may$/);
});
