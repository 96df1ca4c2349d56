import type { Finding } from "./campaign.js";
import { type Oracle, oracles } from "./fault.js";
import type { ApiOf } from "./wire.js";

export interface Result {
  readonly seed: number;
  readonly seconds: number;
  readonly sent: Readonly<Record<ApiOf, number>>;
  /** How many accepted pets were read back. */
  readonly pets: number;
  /** `rest 400 VALIDATION_FAILED` and how often. */
  readonly answers: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

export function countFaults({ findings }: Pick<Result, "findings">): Record<Oracle, number> {
  const counts = Object.fromEntries(Object.keys(oracles).map((oracle) => [oracle, 0])) as Record<Oracle, number>;
  for (const { oracle, count } of findings) counts[oracle] += count;
  return counts;
}

/** What was sent, what came back, every oracle with its count, and every finding with what to type to see it. */
export function formatReport(result: Result): string {
  const { seed, seconds, sent, pets, answers, findings } = result;
  const total = sent.rest + sent.graphql;
  const lines = [
    `seed ${seed}: ${grouped(sent.rest)} requests to REST, ${grouped(sent.graphql)} to GraphQL`,
    `in ${seconds.toFixed(1)} s, ${grouped(Math.round(total / seconds))}/s; ${grouped(pets)} pets accepted`,
    "",
    ...Object.entries(answers)
      .toSorted(([left], [right]) => left.localeCompare(right))
      .map(([answer, count]) => `  ${grouped(count).padStart(11)}  ${answer}`),
    "",
    ...Object.entries(countFaults(result)).map(
      ([oracle, count]) => `  ${grouped(count).padStart(11)}  ${oracle.padEnd(13)}${oracles[oracle as Oracle]}`,
    ),
  ];
  for (const { oracle, reason, kind, seed: own, path, count, curl } of findings) {
    const again = path === "" ? "" : `  npm run fuzz -- --replay ${kind}/${own}/${path}`;
    lines.push(
      "",
      `${oracle}, ${grouped(count)} times: ${reason}`,
      ...(again === "" ? [] : [again]),
      ...curl.map((one) => `  ${one}`),
    );
  }
  return lines.join("\n");
}

/** The same for programs. */
export function reportJson(result: Result): string {
  return `${JSON.stringify({ ...result, faults: countFaults(result) }, null, 2)}\n`;
}

function grouped(count: number): string {
  return count.toLocaleString("en");
}
