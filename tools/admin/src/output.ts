/** The result of a command: for people, and as the value that it prints with `--json`. */
export interface Output {
  readonly text: string;
  readonly json: unknown;
}

/** The names and values of one record, in the order of their columns. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** A line for each field, or an object. */
export function recordOutput(record: Fields): Output {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  const lines = Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return { text: lines.join("\n"), json: record };
}

/** A table, or an array. */
export function tableOutput(records: readonly Fields[]): Output {
  const [first] = records;
  if (first === undefined) return { text: "none", json: records };
  const columns = Object.keys(first);
  const rows = [columns, ...records.map((record) => columns.map((column) => `${record[column] ?? "-"}`))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "));
  return { text: lines.map((line) => line.trimEnd()).join("\n"), json: records };
}
