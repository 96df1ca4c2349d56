import { expect, it } from "vitest";
import { helpText, readCommandLine } from "./command-line.js";
import type { Section } from "./section.js";

const sections: readonly Section[] = ["parity", "audits"].map((name) => ({
  name,
  about: `${name}?`,
  run: async () => [],
}));

it("runs every section by default", () => {
  expect(readCommandLine([], sections)).toEqual({ kind: "run", sections, jsonFile: undefined });
});

it("--only chooses sections, --json names a file", () => {
  const command = readCommandLine(["--only", "audits", "--json", "report.json"], sections);
  expect(command).toEqual({ kind: "run", sections: sections.slice(1), jsonFile: "report.json" });
});

it("an unknown section is answered with the names there are", () => {
  const command = readCommandLine(["--only", "nothing"], sections);
  expect(command).toEqual({ kind: "unclear", reason: expect.stringContaining("parity, audits") });
});

it("an unknown option is unclear", () => {
  expect(readCommandLine(["--fast"], sections)).toMatchObject({ kind: "unclear" });
});

it("--help names every section", () => {
  expect(readCommandLine(["--help"], sections)).toEqual({ kind: "help" });
  for (const { about } of sections) expect(helpText(sections)).toContain(about);
});
