// How much a reader has to read to follow one request. The coverage of running services decides which files it executes.
import { readFile } from "node:fs/promises";
import { describeWithRedis } from "@petstore/harness";
import { it } from "@petstore/harness/test-with-figures";
import { beforeAll, expect } from "vitest";
import { type ExecutedFile, executedFiles, type MeasuredRequest } from "./executed-files.js";

const listRequest: MeasuredRequest = { service: "rest", method: "GET", path: "/v1/pets?limit=20" };
const createRequest: MeasuredRequest = {
  service: "graphql",
  method: "POST",
  path: "/graphql",
  body: {
    query: "mutation ($input: NewPet!) { createPet(input: $input) { id name categoryId status } }",
    variables: { input: { name: "Rex", categoryId: "9007199254740993" } },
  },
};

// Without Redis, a request executes other files.
describeWithRedis("the files that a request executes", () => {
  let list: readonly ExecutedFile[] = [];
  let create: readonly ExecutedFile[] = [];

  beforeAll(async () => {
    list = await executedFiles(listRequest);
    create = await executedFiles(createRequest);
  });

  it("are the files that CONTRIBUTING.md names for a list", async () => {
    expect((await filesUnder("### A list over REST")).sort()).toEqual(pathsOf(list));
  });

  it("are the files that CONTRIBUTING.md names for a create, in addition to those of a list", async () => {
    const shared = pathsOf(list).filter((path) => pathsOf(create).includes(path));
    expect([...shared, ...(await filesUnder("### A create over GraphQL"))].sort()).toEqual(pathsOf(create));
  });

  it.for([
    ["a list over REST", () => list, { files: 30, lines: 2_700 }],
    ["a create over GraphQL", () => create, { files: 38, lines: 3_400 }],
  ] as const)("and their lines are within the limit for %s", ([title, executed, limit], { figures }) => {
    let total = 0;
    process.stdout.write(`\n${title}\n  lines  file: functions with a name\n`);
    for (const { path, lines, functions } of executed()) {
      process.stdout.write(`${`${lines}`.padStart(7)}  ${path}: ${functions.join(", ")}\n`);
      total += lines;
    }
    figures.atMost(limit.files, "files", executed().length);
    figures.atMost(limit.lines, "lines", total);
  });
});

function pathsOf(files: readonly ExecutedFile[]): string[] {
  return files.map(({ path }) => path);
}

/** The files in the code spans at the start of the items of a section. */
async function filesUnder(heading: string): Promise<string[]> {
  const text = await readFile(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const section = text.split(`${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  return [...section.matchAll(/^ *(?:\d+\.|\*) `((?:packages|services)\/[^`]+\.ts)`/gm)].map(([, path = ""]) => path);
}
