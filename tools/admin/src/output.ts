/** One record a command answers with: names and values as text, in the order of their columns. */
export type Fields = Readonly<Record<string, string | number | undefined>>;

/** A table for people; a JSON array with `--json`, where what is absent is left out. */
export function formatRecords(records: readonly Fields[], json: boolean): string {
  return json ? JSON.stringify(records, null, 2) : table(records);
}

/** One record alone: a line for each field, or a JSON object. */
export function formatRecord(record: Fields, json: boolean): string {
  if (json) return JSON.stringify(record, null, 2);
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`)
    .join("\n");
}

function table(records: readonly Fields[]): string {
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
