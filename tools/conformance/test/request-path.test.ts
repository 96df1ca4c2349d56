// CONTRIBUTING.md names the files that a request executes. Coverage of running services is the judge.
import { readFile } from "node:fs/promises";
import { describeWithRedis } from "@petstore/harness";
import { beforeAll, describe, expect, it } from "vitest";
import { createPetRequest, executedFiles, isWithin, listRequest } from "../src/request-path/request-path.js";
import { openStage } from "../src/stage.js";

describe("the limit of a request path", () => {
  const limit = { files: 30, lines: 2_700 };

  it.each([
    [30, 2_700, true],
    [31, 2_700, false],
    [30, 2_701, false],
  ])("judges %i files with %i lines", (files, lines, expected) => {
    expect(isWithin({ files, lines }, limit)).toBe(expected);
  });
});

describeWithRedis("the files that a request executes", () => {
  let listed: readonly string[] = [];
  let created: readonly string[] = [];

  beforeAll(async () => {
    await using stage = await openStage();
    listed = (await executedFiles(listRequest, stage)).map(({ path }) => path);
    created = (await executedFiles(createPetRequest, stage)).map(({ path }) => path);
  });

  it("include its route or resolver, and the repository", () => {
    expect(listed).toContain("services/rest/src/pet-routes.ts");
    expect(created).toContain("services/graphql/src/schema/pet-resolver.ts");
    for (const files of [listed, created]) expect(files).toContain("packages/core/src/pets/pet-repository.ts");
  });

  it("do not include code that runs only at start-up", () => {
    for (const files of [listed, created]) {
      expect(files).not.toContain("packages/core/src/database/migrate.ts");
      expect(files).not.toContain("packages/core/src/config/read-config.ts");
    }
  });

  it("are the files that CONTRIBUTING.md names for a list", async () => {
    expect((await filesUnder("### A list over REST")).sort()).toEqual(listed);
  });

  it("are the files that CONTRIBUTING.md names for a create, besides those of a list", async () => {
    const shared = listed.filter((path) => created.includes(path));
    expect([...shared, ...(await filesUnder("### A create over GraphQL"))].sort()).toEqual(created);
  });
});

/** The files in the code spans that begin the items of a section. */
async function filesUnder(heading: string): Promise<string[]> {
  const text = await readFile(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const section = text.split(`${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  return [...section.matchAll(/^ *(?:\d+\.|\*) `((?:packages|services)\/[^`]+\.ts)`/gm)].map(([, path = ""]) => path);
}
