// Follows the guide "Add a field" of CONTRIBUTING.md in a copy: a pet gets the optional field `nickname`.
import { execFile } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createTestDatabase } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { openTemporaryDirectory, startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { openStoreDatabase } from "../../src/store-database.js";
import { type Additions, additions, typeAdditions } from "./additions.js";

const projects = ["services/rest", "services/graphql", "packages/client"];
const copied = ["packages/core", "packages/http", "packages/pages", ...projects, "tsconfig.base.json"];

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));

const migrations = "packages/core/src/database/migrations/migrations.ts";
const openApi = "services/rest/openapi.yaml";
const selectionLimit = "services/graphql/src/operation/selection-fault.ts";

it("has additions for each file of the guide, and for no other", async () => {
  const contributing = await readFile(join(root, "CONTRIBUTING.md"), "utf8");
  const guide = contributing.split("## Add a field\n")[1]?.split(/^##/m)[0] ?? "";
  const named = [...guide.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path);
  expect(Object.keys({ ...typeAdditions, ...additions }).sort()).toEqual(named.sort());
});

it("compiles when each file of the guide has the field, and serves it", async () => {
  await using copy = await copySources();
  await copy.add(typeAdditions);
  const places = Object.keys(additions).filter((path) => ![migrations, openApi, selectionLimit].includes(path));
  expect(await copy.build()).toEqual(expect.arrayContaining(places));
  await copy.add(additions);
  expect(await copy.build()).toEqual([]);
  const core: typeof import("@petstore/core") = await import(copy.urlOf("packages/core/dist/index.js").href);
  const client: typeof import("@petstore/client") = await import(copy.urlOf("packages/client/dist/index.js").href);
  await using database = await createTestDatabase();
  await core.migrate(database.directUrl);
  await using store = openStoreDatabase(database.directUrl);
  const { key } = await store.issueKey();
  const environment = { DATABASE_URL: database.directUrl, LOG_LEVEL: "warn", SHED_EVENT_LOOP_DELAY_MS: "0" };
  await using rest = await startService({ environment, main: copy.urlOf("services/rest/dist/main.js") });
  await using graphql = await startService({ environment, main: copy.urlOf("services/graphql/dist/main.js") });
  const { pets } = client.createPetStoreClient({ baseUrl: `${rest.origin}/v1`, apiKey: key });
  const rex = { name: "Rex", categoryId: 1, nickname: "Rexy" };
  expect(await pets.create(rex)).toHaveProperty("nickname", "Rexy");

  using http = openHttpClient(graphql.origin);
  const execute = async (query: string, variables = {}) =>
    (await http.send("POST", "/graphql", { key, body: JSON.stringify({ query, variables }) })).json;
  const document = "mutation ($input: NewPet!) { createPet(input: $input) { nickname } }";
  expect(await execute(document, { input: { ...rex, nickname: null } })).toMatchObject({
    data: { createPet: { nickname: null } },
  });
  const nicknames = [{ nickname: "Rexy" }, { nickname: null }];
  expect(await execute("{ pets { nickname } }")).toMatchObject({ data: { pets: nicknames } });
  expect((await pets.list()).pets).toMatchObject(nicknames);
});

/**
 * A copy of the packages that know the fields of a pet, to change and build it. It has the output of the last build, so that
 * only changed packages are built again.
 */
async function copySources() {
  const directory = await openTemporaryDirectory();
  const pathOf = (path: string) => join(directory.path, path);
  await Promise.all(copied.map((path) => cp(join(root, path), pathOf(path), copyOptions)));
  await symlink(join(root, "node_modules"), pathOf("node_modules"));
  return {
    async add(additions: Additions): Promise<void> {
      for (const [path, changes] of Object.entries(additions)) {
        let text = await readFile(pathOf(path), "utf8");
        for (const [after, added] of changes) {
          if (text.split(after).length !== 2) throw new Error(`${path} must have this text once: ${after}`);
          text = text.replace(after, () => after + added);
        }
        await writeFile(pathOf(path), text);
      }
    },
    /** Returns the paths of the files that do not compile. */
    async build(): Promise<readonly string[]> {
      try {
        await promisify(execFile)(process.execPath, [tsc, "-b", ...projects], { cwd: directory.path });
        return [];
      } catch (failure) {
        const { stdout } = failure as { readonly stdout: string };
        const paths = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error /gm)].map(([, path = ""]) => path);
        if (paths.length === 0) throw failure;
        return paths;
      }
    },
    urlOf: (path: string): URL => pathToFileURL(pathOf(path)),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** pnpm's links are relative, so that those of the copy lead to its own packages. */
const copyOptions = {
  recursive: true,
  verbatimSymlinks: true,
  preserveTimestamps: true,
  filter: (path: string) => basename(path) !== "test",
};
