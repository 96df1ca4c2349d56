/** What the charts of the usage page show of `GET /usage/history`. Browsers and this module's tests share it. */

export interface UsageHistory {
  /** The starts in UTC, such as `2027-01-31T14:00:00Z`, ascending. */
  readonly hours: readonly string[];
  /** Such as `2027-01-31`. */
  readonly days: readonly string[];
  readonly series: readonly HistorySeries[];
}

interface HistorySeries {
  /** Null for the sum of the keys that the service does not list. */
  readonly key: HistoryKey | null;
  readonly api: "rest" | "graphql";
  readonly hours: HistoryCounts;
  readonly days: HistoryCounts;
}

interface HistoryKey {
  readonly id: string;
  readonly name: string | null;
  readonly prefix: string | null;
}

interface HistoryCounts {
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
}

export type Unit = "hours" | "days";

export interface Chart {
  readonly starts: readonly string[];
  /** The admitted units of each key, in the order of their colours. The last one can be the sum of further keys. */
  readonly keys: readonly { readonly label: string; readonly admitted: readonly number[] }[];
  /** Of all keys. */
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
}

/** Keys with a colour of their own. More colours are hard to tell apart. */
const colouredKeys = 5;

/**
 * A key has the same colour in both charts: the service lists the keys by their counts in 90 days.
 *
 * @param presentKey the API key of the page
 */
export function chartOf(history: UsageHistory, unit: Unit, presentKey: string): Chart {
  const starts = history[unit];
  const labels = labelsOf(history, presentKey);
  const ids = [...labels.keys()];
  const shown = ids.length > colouredKeys + 1 || ids.includes(otherKeys) ? ids.slice(0, colouredKeys) : ids;
  const rest = ids.slice(shown.length);
  const sumOf = (kind: keyof HistoryCounts, included: readonly string[]) =>
    starts.map((_, index) =>
      history.series
        .filter(({ key }) => included.includes(key?.id ?? otherKeys))
        .reduce((sum, series) => sum + (series[unit][kind][index] ?? 0), 0),
    );
  return {
    starts,
    keys: [
      ...shown.map((id) => ({ label: labels.get(id) ?? "", admitted: sumOf("admitted", [id]) })),
      ...(rest.length > 0 ? [{ label: "other keys", admitted: sumOf("admitted", rest) }] : []),
    ],
    admitted: sumOf("admitted", ids),
    refused: sumOf("refused", ids),
  };
}

const otherKeys = "";

/** The names of the keys by their ids, in the order of the service. */
function labelsOf({ series }: UsageHistory, presentKey: string): ReadonlyMap<string, string> {
  const keys = new Map(series.map(({ key }) => [key?.id ?? otherKeys, key]));
  const names = [...keys.values()].map((key) => key?.name);
  return new Map(
    [...keys].map(([id, key]): [id: string, label: string] => {
      if (key === null) return [id, "other keys"];
      // The keys of a rotation have the same name.
      const isNameUnique = names.filter((name) => name === key.name).length === 1;
      const isPresent = key.prefix !== null && presentKey.startsWith(key.prefix);
      return [id, `${labelOf(key, isNameUnique)}${isPresent ? " (this key)" : ""}`];
    }),
  );
}

function labelOf({ id, name, prefix }: HistoryKey, isNameUnique: boolean): string {
  if (name === null) return prefix === null ? `key ${id}` : `${prefix}...`;
  return isNameUnique ? name : `${name}, ${prefix ?? `key ${id}`}`;
}

export interface TableRow {
  readonly start: string;
  readonly key: string;
  readonly admitted: number;
  readonly refused: number;
}

/** The numbers that are not 0, the newest first. */
export function rowsOf(history: UsageHistory, unit: Unit, presentKey: string): readonly TableRow[] {
  const labels = labelsOf(history, presentKey);
  return [...history[unit].entries()].reverse().flatMap(([index, start]) =>
    history.series.flatMap(({ key, api, [unit]: counts }) => {
      const admitted = counts.admitted[index] ?? 0;
      const refused = counts.refused[index] ?? 0;
      if (admitted === 0 && refused === 0) return [];
      const name = labels.get(key?.id ?? otherKeys) ?? "";
      return [{ start, key: `${name}, ${api === "rest" ? "REST" : "GraphQL"}`, admitted, refused }];
    }),
  );
}

export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The values at which an axis from 0 to at least `most` has lines: whole numbers, 2 to 5 of them. */
export function axisTicks(most: number): readonly number[] {
  const smallest = Math.max(1, most / 4);
  const power = 10 ** Math.floor(Math.log10(smallest));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= smallest) ?? smallest;
  const ticks = [0];
  while ((ticks.at(-1) ?? 0) < most || ticks.length < 2) ticks.push(ticks.length * step);
  return ticks;
}

/** `20:00 to 21:00 UTC on November 28`, or `November 28`. */
export function periodText(start: string, unit: Unit): string {
  const time = new Date(start);
  const date = new Intl.DateTimeFormat("en", { timeZone: "UTC", month: "long", day: "numeric" }).format(time);
  if (unit === "days") return date;
  const from = time.getUTCHours();
  return `${hourText(from)} to ${hourText(from + 1)} UTC on ${date}`;
}

/** `Nov 28, 20:00`, or `Nov 28`: short enough for a table on a phone. */
export function shortText(start: string, unit: Unit): string {
  const time = new Date(start);
  return unit === "days" ? shortDate(time) : `${shortDate(time)}, ${hourText(time.getUTCHours())}`;
}

/** The label of a bar on the axis of time; `undefined` if there is no room for one. */
export function tickText(start: string, unit: Unit, isNarrow: boolean): string | undefined {
  const time = new Date(start);
  if (unit === "hours") {
    const hour = time.getUTCHours();
    if (hour % (isNarrow ? 12 : 6) !== 0) return undefined;
    return hour === 0 ? shortDate(time) : hourText(hour);
  }
  const days = time.getTime() / 86_400_000;
  // 1970 began on a Thursday, so these are Mondays.
  return (days - 4) % (isNarrow ? 28 : 14) === 0 ? shortDate(time) : undefined;
}

function shortDate(time: Date): string {
  return new Intl.DateTimeFormat("en", { timeZone: "UTC", month: "short", day: "numeric" }).format(time);
}

function hourText(hour: number): string {
  return `${`${hour}`.padStart(2, "0")}:00`;
}
