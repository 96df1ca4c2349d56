import { expect, it } from "vitest";
import { atMost } from "./measure.js";
import { formatReport, isFailed, isPassed, isRunPassed, type Row, reportJson } from "./report.js";
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
  expect(formatReport({ rows: [skipped], seconds: 1, isOfEveryRow: false })).toMatch(
    /killed .* skipped\n {4}only root may\n/,
  );
});

it.each([
  [1_800, true],
  [1_801, false],
])("a run of every row in %d s passes: %s", (seconds, passes) => {
  const run = { rows: [row({})], seconds, isOfEveryRow: true };
  expect(isRunPassed(run)).toBe(passes);
  expect(JSON.parse(reportJson(run))).toMatchObject({ passed: passes, minutes: seconds / 60 });
  expect(formatReport(run)).toMatch(/the whole run: 30 minutes \(<= 30\)$/);
});

it("some rows may take as long as they take", () => {
  const run = { rows: [row({})], seconds: 1_801, isOfEveryRow: false };
  expect(isRunPassed(run)).toBe(true);
  expect(formatReport(run)).toMatch(/these rows: 1801 s$/);
});

it("a run with a row that failed does not pass", () => {
  expect(isRunPassed({ rows: [row({}), row({ lost: 1 })], seconds: 1, isOfEveryRow: true })).toBe(false);
});
