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

  it("an error", () => {
    const rows = rowsBelow("Body of every other status: <code>Error</code>");
    expect(rows.map(([field]) => field)).toEqual(["code", "message", "status"]);
  });
});
