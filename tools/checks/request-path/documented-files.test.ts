// CONTRIBUTING.md names the files that a request executes. The coverage of running services decides which ones they are.
import { readFile } from "node:fs/promises";
import { isRedisInstalled } from "@petstore/harness";
import { beforeAll, describe, expect, it } from "vitest";
import { createPetRequest, executedFiles, listRequest } from "./executed-files.js";

// Without Redis, a request executes other files.
describe.skipIf(!isRedisInstalled())("the files that a request executes", () => {
  let listed: readonly string[] = [];
  let created: readonly string[] = [];

  beforeAll(async () => {
    listed = (await executedFiles(listRequest)).map(({ path }) => path);
    created = (await executedFiles(createPetRequest)).map(({ path }) => path);
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
});

/** The files in the code spans at the start of the items of a section. */
async function filesUnder(heading: string): Promise<string[]> {
  const text = await readFile(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const section = text.split(`${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
  return [...section.matchAll(/^ *(?:\d+\.|\*) `((?:packages|services)\/[^`]+\.ts)`/gm)].map(([, path = ""]) => path);
}
