import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { guideLinks } from "./links.js";

it.each(guideLinks)("the link to $path has the title of the guide", async ({ title, file }) => {
  const markdown = await readFile(new URL(`../../../${file}`, import.meta.url), "utf8");
  expect(/^# (.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "")).toBe(title);
});
