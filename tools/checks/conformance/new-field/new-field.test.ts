// Follows the guide "Add a field" of CONTRIBUTING.md in a copy: a pet gets the optional field `nickname`.
import { readFile } from "node:fs/promises";
import { createTestDatabase } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { openStoreDatabase } from "../../src/store-database.js";
import { additions, typeAdditions } from "./additions.js";
import { copySources } from "./source-copy.js";

const migrations = "packages/core/src/database/migrations/migrations.ts";
const openApi = "services/rest/openapi.yaml";

it("has additions for each file of the guide, and for no other", async () => {
  const contributing = await readFile(new URL("../../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const guide = contributing.split("## Add a field\n")[1]?.split(/^##/m)[0] ?? "";
  const named = [...guide.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path);
  expect(Object.keys({ ...typeAdditions, ...additions }).sort()).toEqual(named.sort());
});

it("compiles when each file of the guide has the field, and serves it", async () => {
  await using copy = await copySources();
  await copy.add(typeAdditions);
  const places = Object.keys(additions).filter((path) => ![migrations, openApi].includes(path));
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
