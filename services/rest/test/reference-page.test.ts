// The reference page, as the build wrote it.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const page = readFileSync(new URL("../dist/site/index.html", import.meta.url), "utf8");

describe("the reference page lists the fields of", () => {
  /** The rows of the first table below each heading with this text, without markup. */
  const rowsBelow = (heading: string) => {
    const [, table = ""] = page.split(`<h3>${heading}</h3>`)[1]?.split(/<\/?tbody>/) ?? [];
    const cells = (row: string) => row.split("</td>").map((cell) => cell.replaceAll(/<[^>]+>|\n/g, ""));
    return table
      .trim()
      .split("</tr>")
      .map(cells)
      .map((row) => row.slice(0, 3))
      .filter((row) => row.length === 3);
  };
  const int64 = "From -9223372036854775808 to 9223372036854775807.";
  const name = expect.stringMatching(
    /at least one non-blank character, no control characters\. 1 to 255 characters\.$/,
  );
  const categoryId = expect.stringContaining(int64);
  const choices = "One of available, pending, sold.";

  it("a new pet", () => {
    expect(rowsBelow("Body of the request: <code>NewPet</code>")).toEqual([
      ["name", "string, required", name],
      ["categoryId", "integer, int64, required", categoryId],
      ["status", "string, optional", `available unless given. ${choices}`],
    ]);
  });

  it.each([
    "Body of 200: an array of <code>Pet</code>",
    "Body of 201: <code>Pet</code>",
    "Body of 200: <code>Pet</code>",
  ])("%s", (heading) => {
    expect(rowsBelow(heading)).toEqual([
      ["id", "integer, int64, required", `Assigned by the service when the pet is added. ${int64}`],
      ["name", "string, required", name],
      ["categoryId", "integer, int64, required", categoryId],
      ["status", "string, optional", expect.stringContaining(choices)],
    ]);
  });

  it("the rate limit, with the fields of its objects", () => {
    const rows = rowsBelow("Body of 200: <code>RateLimitStatus</code>");
    const window = (name: string) =>
      ["limit", "used", "remaining", "reset"].map((field) => [`${name}.${field}`, "integer, required"]);
    expect(rows.map(([field, type]) => [field, type])).toEqual([
      ["plan", "string, required"],
      ["minute", "object, required"],
      ...window("minute"),
      ["day", "object, required"],
      ...window("day"),
      ["bannedUntil", "integer or null, required"],
      ["key", "object, required"],
      ["key.prefix", "string or null, required"],
      ["key.name", "string or null, required"],
      ["key.scope", "string, required"],
      ["key.expiresAt", "string or null, date-time, required"],
      ["account", "object, required"],
      ["account.name", "string, required"],
      ["account.plan", "string, required"],
    ]);
  });

  it("the usage history, with the types of the items and the fields of each series", () => {
    const rows = rowsBelow("Body of 200: <code>UsageHistory</code>");
    const counts = (name: string) => [
      [`series[].${name}`, "object, required"],
      ...["admitted", "refused"].map((field) => [`series[].${name}.${field}`, "array of integer, required"]),
    ];
    expect(rows.map(([field, type]) => [field, type])).toEqual([
      ["hours", "array of string, date-time, required"],
      ["days", "array of string, date, required"],
      ["series", "array of object, required"],
      ["series[].key", "object or null, required"],
      ...["id", "name", "prefix"].map((field) => [
        `series[].key.${field}`,
        `${field === "id" ? "string" : "string or null"}, required`,
      ]),
      ["series[].api", "string, required"],
      ...counts("hours"),
      ...counts("days"),
    ]);
    expect(rows[0]?.[2]).toMatch(/ 48 items\.$/);
    expect(rows[2]?.[2]).toMatch(/ At most 42 items\.$/);
  });

  it("an error", () => {
    const rows = rowsBelow("Body of every error: <code>Error</code>");
    expect(rows.map(([field]) => field)).toEqual(["code", "message", "status"]);
  });
});

it("the list of the operations names each one as its section does, and marks the deprecated one", () => {
  const text = (markup: string) => markup.replaceAll(/<[^>]+>/g, "");
  const [, list = ""] = /<nav aria-label="Operations".*?<ul>(.*?)<\/ul>/s.exec(page) ?? [];
  const items = [...list.matchAll(/<a href="#(\w+)">(.*?)<\/a>/g)].map(([, id = "", name = ""]) => [id, text(name)]);
  expect(items).toEqual([
    ["listPets", "GET /v1/pets List pets"],
    ["createPet", "POST /v1/pets Add a pet"],
    ["getPet", "GET /v1/pets/{petId} deprecated Get a pet"],
    ["getRateLimit", "GET /rate_limit Get the rate limit"],
    ["getUsageHistory", "GET /usage/history Get the usage history"],
  ]);
  for (const [id, name = ""] of items) {
    const [, title = ""] = new RegExp(`<h2 id="${id}-title">(.*?)</h2>`).exec(page) ?? [];
    expect(name.startsWith(text(title)), id).toBe(true);
  }
});

it("every heading Example has an example below it, and each operation has one", () => {
  const examples = [
    ...page.matchAll(/<h3>Example<\/h3>\n<div class="code"><pre tabindex="0"><code>(.*?)<\/code>/gs),
  ].map(([, text]) => text);
  expect(examples).toHaveLength(5);
  expect(page.split("<h3>Example</h3>")).toHaveLength(6);
  for (const text of examples) expect(text).toMatch(/^[[{]\n.*[\]}]$/s);
  const history = examples.find((text) => text?.includes("admitted")) ?? "";
  // A list of numbers is one line.
  expect(history).toMatch(/^ +&#34;admitted&#34;: \[(0, )+/m);
});

it("says that a key can read the usage history once a second, where that is a 429", () => {
  const [, section = ""] = page.split('<section id="getUsageHistory"');
  expect(section.split("</section>")[0]).toMatch(
    /<td>429<\/td><td>.*RATE_LIMIT_EXCEEDED.*The key has already read the usage history in this second/,
  );
});

it("every error code is a link to its explanation", () => {
  const codes = [...page.matchAll(/<a href="\/docs\/errors#([A-Z_]+)"><code>([A-Z_]+)<\/code><\/a>/g)];
  expect(codes.filter(([, target, code]) => target !== code)).toEqual([]);
  expect(new Set(codes.map(([, code]) => code)).size).toBe(25);
  expect(page).not.toMatch(/<td><code>[A-Z_]{6,}<\/code><\/td>/);
});

it("headers of every response are described once", () => {
  for (const name of ["X-RateLimit-Limit", "RateLimit-Policy", "X-Request-Id"]) {
    expect(page.split(`<td><code>${name}</code></td>`), name).toHaveLength(2);
  }
});

it("a header with several meanings has a row for each one, with the statuses that have it", () => {
  const rows = headerRows("listPets");
  expect(rows.filter(([name]) => name === "Link" || name === "Cache-Control")).toEqual([
    ["Cache-Control", "200, 304", expect.stringContaining("private, no-cache"), "private, no-cache"],
    ["Cache-Control", errors, expect.stringContaining("must not be cached"), "no-store"],
    ["Link", "200, 304", expect.stringContaining('rel="next"'), expect.stringContaining('rel="next"')],
    ["Link", errors, expect.stringContaining('rel="help"'), expect.stringContaining('rel="help"')],
  ]);
});

const errors = "400, 401, 403, 406, 408, 429, 431, 500, 503";

/** The cells of the rows about the headers of an operation. */
function headerRows(operationId: string): readonly (readonly string[])[] {
  const [, section = ""] = page.split(`<section id="${operationId}"`);
  const [, table = ""] = section.split("<h3>Headers</h3>")[1]?.split(/<\/?tbody>/) ?? [];
  const text = (cell: string) => cell.replaceAll(/<[^>]+>/g, "").replaceAll("&#34;", '"');
  return table
    .trim()
    .split("\n")
    .map((row) => row.split("</td>").slice(0, -1).map(text));
}
