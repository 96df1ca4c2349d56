// How much a reader has to read to follow one request. The coverage of running services decides which files it executes.
import { readFile } from "node:fs/promises";
import { isRedisInstalled } from "@petstore/harness";
import { beforeAll, describe, expect } from "vitest";
import { it } from "../src/it.js";
import { createPetRequest, type ExecutedFile, executedFiles, listRequest, sizeOf } from "./executed-files.js";

// Without Redis, a request executes other files.
describe.skipIf(!isRedisInstalled())("the files that a request executes", () => {
  let list: readonly ExecutedFile[] = [];
  let create: readonly ExecutedFile[] = [];
  let listed: readonly string[] = [];
  let created: readonly string[] = [];

  beforeAll(async () => {
    list = await executedFiles(listRequest);
    create = await executedFiles(createPetRequest);
    listed = list.map(({ path }) => path);
    created = create.map(({ path }) => path);
  });

  it("include the route or the resolver, and the SQL", () => {
    expect(listed).toContain("services/rest/src/pet-routes.ts");
    expect(listed).toContain("packages/core/src/pets/pet-queries.ts");
    expect(created).toContain("services/graphql/src/schema/pet-resolver.ts");
    expect(created).toContain("packages/core/src/pets/pet-inserts.ts");
    for (const paths of [listed, created]) {
      expect(paths).not.toContain("packages/core/src/database/migrate.ts");
      expect(paths).not.toContain("packages/core/src/config/read-config.ts");
    }
  });

  it("are the files that CONTRIBUTING.md names for a list", async () => {
    expect((await filesUnder("### A list over REST")).sort()).toEqual(listed);
  });

  it("are the files that CONTRIBUTING.md names for a create, in addition to those of a list", async () => {
    const shared = listed.filter((path) => created.includes(path));
    expect([...shared, ...(await filesUnder("### A create over GraphQL"))].sort()).toEqual(created);
  });

  it.for([
    ["a list over REST", listRequest, () => list],
    ["a create over GraphQL", createPetRequest, () => create],
  ] as const)("and their lines are within the limit for %s", ([_what, { title, limit }, executed], { figures }) => {
    const rows = executed().map(
      ({ path, lines, functions }) => `${`${lines}`.padStart(7)}  ${path}: ${functions.join(", ")}`,
    );
    process.stdout.write(`\n${title}\n  lines  file: functions with a name\n${rows.join("\n")}\n`);
    const size = sizeOf(executed());
    figures.atMost(limit.files, "files", size.files);
    figures.atMost(limit.lines, "lines", size.lines);
  });
});

/** The files in the code spans at the start of the items of a section. */
async function filesUnder(heading: string): Promise<string[]> {
  const text = await readFile(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const section = text.split(`${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  return [...section.matchAll(/^ *(?:\d+\.|\*) `((?:packages|services)\/[^`]+\.ts)`/gm)].map(([, path = ""]) => path);
}
