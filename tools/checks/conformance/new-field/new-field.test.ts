// Follows the guide "Add a field" of CONTRIBUTING.md in a copy: a pet gets the optional field `nickname`.
import { readFile } from "node:fs/promises";
import { createTestDatabase, grantService } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { openStoreDatabase } from "../../src/store-database.js";
import { additions, typeAdditions } from "./additions.js";
import { copySources, typeComparison } from "./source-copy.js";

const pet = "packages/core/src/pets/pet.ts";
const client = "packages/client/src/pet.ts";
const migrations = "packages/core/src/database/migrations/migrations.ts";
const openApi = "services/rest/openapi.yaml";

it("has additions for each file of the guide, and for no other", async () => {
  const contributing = await readFile(new URL("../../../../CONTRIBUTING.md", import.meta.url), "utf8");
  const guide = contributing.split("## Add a field\n")[1]?.split(/^##/m)[0] ?? "";
  const named = [...guide.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path]) => path);
  expect(Object.keys({ ...typeAdditions, ...additions }).sort()).toEqual(named.sort());
});

it("compiles when each file of the guide has the field, and is served together with an older instance", async () => {
  await using copy = await copySources();
  const { [pet]: ofPet = [], [client]: ofClient = [] } = typeAdditions;
  await copy.add({ [pet]: ofPet });
  const places = Object.keys(additions).filter((path) => ![client, migrations, openApi].includes(path));
  expect(await copy.build()).toEqual(expect.arrayContaining([...places, typeComparison]));

  await copy.add({ [client]: ofClient });
  const broken = await copy.build();
  expect(broken).toContain(client);
  expect(broken).not.toContain(typeComparison);

  await copy.add(additions);
  expect(await copy.build()).toEqual([]);
  const core: typeof import("@petstore/core") = await import(copy.urlOf("packages/core/dist/index.js").href);
  const { createPetStoreClient }: typeof import("@petstore/client") = await import(
    copy.urlOf("packages/client/dist/index.js").href
  );
  await using database = await createTestDatabase();
  await core.migrate(database.directUrl);
  await using store = openStoreDatabase(database.directUrl);
  const { key } = await store.issueKey();
  const environment = {
    DATABASE_URL: await grantService(database),
    LOG_LEVEL: "warn",
    SHED_EVENT_LOOP_DELAY_MS: "0",
  };
  await using older = await startService({ environment });
  await using rest = await startService({ environment, main: copy.urlOf("services/rest/dist/main.js") });
  await using graphql = await startService({ environment, main: copy.urlOf("services/graphql/dist/main.js") });
  const send = async (origin: string, path: string, body: unknown, headers = {}) => {
    using http = openHttpClient(origin);
    return await http.send("POST", path, { key, headers, body: JSON.stringify(body) });
  };
  const create = ({ origin }: typeof rest, newPet: object, idempotencyKey: string) =>
    send(origin, "/v1/pets", newPet, { "idempotency-key": idempotencyKey });
  const execute = async (query: string, variables = {}) =>
    (await send(graphql.origin, "/graphql", { query, variables })).json;

  // A retry that reaches the new version has the digest of the first request.
  const rex = { name: "Rex", categoryId: 1 };
  const created = await create(older, rex, "first");
  expect(created).toMatchObject({ status: 201, json: rex });
  expect(await create(rest, rex, "first")).toMatchObject({
    status: 201,
    headers: { "idempotency-replayed": "true" },
    json: { ...(created.json as object), nickname: null },
  });

  const ada = { name: "Ada", categoryId: 1, nickname: "Countess" };
  expect(await create(rest, ada, "second")).toMatchObject({ status: 201, json: ada });
  expect(await create(rest, { ...ada, nickname: "Lady" }, "second")).toMatchObject({ status: 422 });
  const document = "mutation ($input: NewPet!) { createPet(input: $input) { nickname } }";
  expect(await execute(document, { input: { ...ada, nickname: "Lady" } })).toMatchObject({
    data: { createPet: { nickname: "Lady" } },
  });
  const [pets, olderPets] = [rest, older].map(
    ({ origin }) => createPetStoreClient({ baseUrl: `${origin}/v1`, apiKey: key }).pets,
  );
  expect(await pets?.create({ ...rex, nickname: "Rexy" } as typeof rex)).toHaveProperty("nickname", "Rexy");

  const nicknames = [null, "Countess", "Lady", "Rexy"].map((nickname) => ({ nickname }));
  expect(await execute("{ pets { nickname } }")).toMatchObject({ data: { pets: nicknames } });
  expect((await pets?.list())?.pets).toMatchObject(nicknames);
  // The client accepts a server that does not know the field.
  expect((await olderPets?.list())?.pets).toMatchObject(nicknames.map(() => ({ nickname: null })));
});
