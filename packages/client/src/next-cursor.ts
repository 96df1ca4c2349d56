/** One link of a Link field (RFC 8288 section 3): its target, and its parameters. */
const link = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const relNext = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?![^\s;,]))/i;

/**
 * The cursor of the link with rel="next"; `undefined` on the last page. Only the cursor is taken: the key goes to no
 * address that an answer names.
 */
export function nextCursor(field: string | null): string | undefined {
  for (const [, target = "", parameters = ""] of (field ?? "").matchAll(link)) {
    if (!relNext.test(parameters)) continue;
    const cursor = new URL(target, "http://relative.invalid").searchParams.get("cursor");
    if (cursor === null) throw new TypeError("the link to the next page has no cursor");
    return cursor;
  }
  return undefined;
}
