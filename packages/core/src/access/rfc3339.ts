/** A time in UTC, as RFC 3339 writes it. `undefined` for a time without a year of four digits, such as `infinity`. */
export function rfc3339(time: Date): string | undefined {
  if (Number.isNaN(time.getTime())) return undefined;
  const text = time.toISOString();
  return text.length === "2027-01-31T00:00:00.000Z".length ? text : undefined;
}
