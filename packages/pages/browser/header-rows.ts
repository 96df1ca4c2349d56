import { element } from "./elements.js";

/** What people look for; the rest follows in alphabetical order. */
const first = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "retry-after",
  "link",
  "deprecation",
  "sunset",
  "idempotency-replayed",
  "x-request-id",
];

/** The headers of an answer as the rows of a table. */
export function headerRows(headers: Headers): HTMLElement[] {
  const names = [
    ...first.filter((name) => headers.has(name)),
    ...[...headers.keys()].filter((name) => !first.includes(name)),
  ];
  return names.map((name) =>
    element(
      "tr",
      "",
      element("td", "", element("code", "", name)),
      element("td", "", element("code", "", headers.get(name) ?? "")),
    ),
  );
}
