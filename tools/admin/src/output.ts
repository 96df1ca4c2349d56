type Value = string | number | boolean | undefined;

/** One record a command answers with: names and values, in the order of their columns. */
export type Fields = Readonly<Record<string, Value>>;

/** A table for people; a JSON array with `--json`, where what is absent is left out. */
export function formatRecords(records: readonly Fields[], json: boolean): string {
  return json ? formatJson(records) : formatTable(records);
}

/** One record alone: a line for each field, or a JSON object. */
export function formatRecord(record: Fields, json: boolean): string {
  if (json) return formatJson(record);
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`)
    .join("\n");
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

export function formatTable(records: readonly Fields[]): string {
  const [first] = records;
  if (first === undefined) return "none";
  const columns = Object.keys(first);
  const rows = [columns, ...records.map((record) => columns.map((column) => `${record[column] ?? "-"}`))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
