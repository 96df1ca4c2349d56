import { parse } from "node:querystring";

/**
 * The query of GET /pets, as the shared validator wants it: the limit as a number, a repeated parameter as an array,
 * which no rule accepts.
 */
export function parseListQuery(url: string): Record<string, unknown> {
  const start = url.indexOf("?");
  // Every parameter is judged: by default the parser ignores those after the thousandth.
  const query: Record<string, unknown> = start === -1 ? {} : parse(url.slice(start + 1), "&", "=", { maxKeys: 0 });
  if (typeof query.limit === "string") query.limit = wholeNumber(query.limit);
  return query;
}

/** The address of the next page: what was asked for, which has been found valid, and the cursor. */
export function nextPageUrl(base: string, { limit, status }: Record<string, unknown>, cursor: string): string {
  const asked = `${status === undefined ? "" : `status=${status}&`}${limit === undefined ? "" : `limit=${limit}&`}`;
  return `${base}?${asked}cursor=${cursor}`;
}

/** The number that plain digits spell; NaN for any other spelling. */
function wholeNumber(text: string): number {
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN;
}
