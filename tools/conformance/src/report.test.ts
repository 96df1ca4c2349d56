import { expect, it } from "vitest";
import { countChecks, formatReport, reportJson } from "./report.js";

const played = [
  {
    section: "parity",
    seconds: 1.25,
    checks: [
      { name: "list", differences: [] },
      { name: "create", differences: ["code: this at REST, that at graphql"] },
      { name: "media types", differences: [], byDesign: ["GraphQL has two"] },
    ],
  },
  { section: "documents", seconds: 2, checks: [{ name: "the longest block", differences: [], figure: "12 ms" }] },
];

it("ends with the counts, as every run of tests here does", () => {
  expect(formatReport(played)).toMatch(/\n3 passed, 1 failed$/);
});

it("names every difference, deviation and figure, and counts them by section", () => {
  const report = formatReport(played);
  expect(report).toMatch(/^parity +3 +2 +1 +1 +1\.3$/m);
  expect(report).toContain("  create: code: this at REST, that at graphql");
  expect(report).toContain("  GraphQL has two:\n    media types");
  expect(report).toContain("  the longest block: 12 ms");
});

it("writes the counts for programs", () => {
  expect(JSON.parse(reportJson(played))).toMatchObject({ ...countChecks(played), sections: played });
});
