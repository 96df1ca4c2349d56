// CONTRIBUTING.md leads to files and symbols that exist. The compiler finds the places of a new field by the types `AllFields` of
// core and `EveryField` of the client.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { repository } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";

const contributing = await readFile(new URL("CONTRIBUTING.md", repository), "utf8");
/** Each step has the path of its file, and the text that says what to do in it. */
const steps = [...sectionOf("Add a field").matchAll(/^\d+\. `([^`]+)`: (.*(?:\n +\S.*)*)/gm)].map(
  ([, path = "", text = ""]) => ({ path, text }),
);

it.each([
  ["CONTRIBUTING.md", 100],
  ["packages/core/decisions/0037-write-these-parts-by-hand.md", 15],
])("%s names only files and folders that exist", async (document, atLeast) => {
  const codes = codesIn(await readFile(new URL(document, repository), "utf8"));
  const paths = codes.filter((code) => /^(?:packages|services|tools|\.[a-z-]+)\/[\w./-]+$/.test(code));
  expect(paths.length).toBeGreaterThan(atLeast);
  expect(paths.filter((path) => !existsSync(new URL(path, repository)))).toEqual([]);
});

it("reads every step of the guide to add a field", () => {
  expect(steps.map(({ path }) => path)).toContain("packages/core/src/pets/pet.ts");
  expect(steps).toHaveLength(sectionOf("Add a field").match(/^\d+\. /gm)?.length ?? 0);
});

describe.each(steps)("the step for $path", ({ path, text }) => {
  it("names symbols that the file has", async () => {
    const symbols = codesIn(text).filter((code) => /^[A-Za-z]\w+$/.test(code));
    expect(symbols).not.toEqual([]);
    const source = await readFile(new URL(path, repository), "utf8");
    const isMissing = (symbol: string) => !new RegExp(`\\b${symbol}\\b`).test(source);
    expect(symbols.filter(isMissing)).toEqual([]);
  });
});

function sectionOf(title: string): string {
  return contributing.split(`\n## ${title}\n`)[1]?.split(/^## /m)[0] ?? "";
}

function codesIn(markdown: string): string[] {
  return [...markdown.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
