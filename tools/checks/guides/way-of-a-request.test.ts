// The picture of README.md and CONTRIBUTING.md, compared with the code that it shows.
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { repository } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const root = fileURLToPath(repository);
const picture = await readFile(`${root}packages/http/way-of-a-request.svg`, "utf8");
const guide = await readFile(`${root}CONTRIBUTING.md`, "utf8");

/** The steps of the picture, from left to right, each with the texts in and below its box. */
const steps = [...picture.matchAll(/<rect x="(\d+)" y="\d+" width="(\d+)"/g)].map(([, x, width]) => {
  const texts = [...picture.matchAll(/<text x="(\d+)" y="\d+">([^<]+)<\/text>/g)]
    .filter(([, at]) => Number(at) >= Number(x) && Number(at) < Number(x) + Number(width))
    .map(([, , text = ""]) => text);
  return { title: texts[0], folders: texts.filter((text) => text.includes("/src")) };
});

it("has five steps: message, request, ticket, reply and response", () => {
  expect(steps.map((step) => step.title)).toEqual(["1 Message", "2 Request", "3 Ticket", "4 Reply", "5 Response"]);
});

it("names only folders that have source files", async () => {
  const folders = steps.flatMap((step) => step.folders);
  expect(folders.length).toBeGreaterThanOrEqual(steps.length);
  for (const folder of folders) {
    const files = await readdir(`${root}${folder}`);
    expect(
      files.filter((file) => file.endsWith(".ts")),
      folder,
    ).not.toEqual([]);
  }
});

it("names for each step the folder that the table of CONTRIBUTING.md names", () => {
  const rows = [...guide.matchAll(/^\| (\d) \| (.+?) \|/gm)].map(([, step, where = ""]) => ({
    step: Number(step),
    where,
  }));
  expect(rows.map((row) => row.step)).toEqual([1, 2, 3, 4, 5]);
  for (const { step, where } of rows) {
    const path = /`([^`]+)`/.exec(where)?.[1];
    // Step 4 is in several folders, so the table describes it in words.
    if (path !== undefined) expect(path).toContain(steps[step - 1]?.folders[0]);
  }
});
