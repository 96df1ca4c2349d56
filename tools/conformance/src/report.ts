import type { Check } from "./section.js";

export interface Played {
  readonly section: string;
  readonly seconds: number;
  readonly checks: readonly Check[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export function countChecks(played: readonly Played[]): Counts {
  const checks = played.flatMap((section) => section.checks);
  const passed = checks.filter(isPassed).length;
  return { passed, failed: checks.length - passed };
}

/** A line for each section, what was measured, what differs by design, and every difference by its name. */
export function formatReport(played: readonly Played[]): string {
  const rows = [
    ["section", "checks", "passed", "failed", "by design", "seconds"],
    ...played.map(({ section, checks, seconds }) => {
      const { passed, failed } = countChecks([{ section, checks, seconds }]);
      const meant = checks.filter(({ byDesign }) => byDesign !== undefined).length;
      return [section, checks.length, passed, failed, meant, seconds.toFixed(1)].map(String);
    }),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const checks = played.flatMap((section) => section.checks);
  const figures = checks.flatMap(({ name, figure }) => (figure === undefined ? [] : [`  ${name}: ${figure}`]));
  const reasons = [...new Set(checks.flatMap(({ byDesign = [] }) => byDesign))];
  const meant = reasons.map((reason) => `  ${reason}:${checksWith(reason, checks)}`);
  const failed = checks.flatMap(({ name, differences }) => differences.map((difference) => `  ${name}: ${difference}`));
  const counts = countChecks(played);
  return [
    ...table,
    ...titled("Measured:", figures),
    ...titled("By design:", meant),
    ...titled("DIFFERENCES:", failed),
    "",
    `${counts.passed} passed, ${counts.failed} failed`,
  ].join("\n");
}

/** The same for programs. */
export function reportJson(played: readonly Played[]): string {
  return `${JSON.stringify({ ...countChecks(played), sections: played }, null, 2)}\n`;
}

function isPassed({ differences }: Check): boolean {
  return differences.length === 0;
}

function checksWith(reason: string, checks: readonly Check[]): string {
  const names = checks.filter(({ byDesign }) => byDesign?.includes(reason)).map(({ name }) => `\n    ${name}`);
  return names.join("");
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}
