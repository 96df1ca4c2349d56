/**
 * The query of GET /pets, as the shared validator wants it: the limit as a number, a repeated parameter as an array,
 * which no rule accepts. Parsed here because Express's parsers drop or merge what the contract wants refused.
 */
export function parseListQuery(url: string): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null);
  const start = url.indexOf("?");
  if (start === -1) return query;
  const parameters = new URLSearchParams(url.slice(start + 1));
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length > 1 ? values : name === "limit" ? wholeNumber(values[0] ?? "") : values[0];
  }
  return query;
}

/** The address of the next page: the same query with the cursor put in. */
export function nextPageUrl(base: string, url: string, cursor: string): string {
  const start = url.indexOf("?");
  const parameters = new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
  parameters.set("cursor", cursor);
  return `${base}?${parameters}`;
}

/** The number that plain digits spell; NaN for any other spelling. */
function wholeNumber(text: string): number {
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
}
