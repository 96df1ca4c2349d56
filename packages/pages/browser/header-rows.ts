import { element } from "./elements.js";

/** The headers that are shown first. The others follow in alphabetical order. */
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

/** Returns one table row for each response header. */
export function headerRows(headers: Headers): HTMLElement[] {
  const names = [
    ...first.filter((name) => headers.has(name)),
    ...[...headers.keys()].filter((name) => !first.includes(name)),
  ];
  const cell = (text: string) => element("td", "", element("code", "", text));
  return names.map((name) => element("tr", "", cell(name), cell(headers.get(name) ?? "")));
}
