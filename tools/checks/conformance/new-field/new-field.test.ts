// Follows the guide "Add a field" of CONTRIBUTING.md in a copy: a pet gets the optional field `nickname`.
import { readFile } from "node:fs/promises";
import type { Pets } from "@petstore/client";
import { createTestDatabase, grantService } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { type Service, startService } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { openStoreDatabase } from "../../src/store-database.js";
import { copySources, typeComparison } from "./source-copy.js";

const pet = "packages/core/src/pets/pet.ts";
const client = "packages/client/src/pet.ts";
const migrations = "packages/core/src/database/migrations/migrations.ts";

describe("a new field", () => {
  it("does not compile until each place of the guide has it", async () => {
    await using copy = await copySources();
    await copy.apply("types.patch", pet);
    const places = (await filesOfGuide()).filter((path) => ![pet, client, migrations].includes(path));
    expect(await copy.build()).toEqual(expect.arrayContaining([...places, typeComparison]));

    await copy.apply("types.patch", client);
    const broken = await copy.build();
    expect(broken).toContain(client);
    expect(broken).not.toContain(typeComparison);
  });

  it("is built, migrated and served after the guide, together with an older instance", async () => {
    await using copy = await copySources();
    await copy.apply("types.patch");
    await copy.apply("places.patch");
    expect(await copy.build()).toEqual([]);
    const { migrate } = await copy.load<typeof import("@petstore/core")>("packages/core");
    const { createPetStoreClient } = await copy.load<typeof import("@petstore/client")>("packages/client");
    await using database = await createTestDatabase();
    await migrate(database.directUrl);
    await using store = openStoreDatabase(database.directUrl);
    const { key } = await store.issueKey();
    const environment = {
      DATABASE_URL: await grantService(database),
      LOG_LEVEL: "warn",
      SHED_EVENT_LOOP_DELAY_MS: "0",
    };
    await using olderService = await startService({ environment });
    await using restService = await startService({ environment, main: copy.urlOf("services/rest/dist/main.js") });
    await using graphqlService = await startService({ environment, main: copy.urlOf("services/graphql/dist/main.js") });
    const older = restCaller(olderService, key);
    const rest = restCaller(restService, key);
    const graphql = graphqlCaller(graphqlService, key);
    const [olderPets, pets] = [olderService, restService].map(
      ({ origin }) => createPetStoreClient({ baseUrl: `${origin}/v1`, apiKey: key }).pets,
    ) as [Pets, Pets];

    // A retry that reaches the new version has the digest of the first request.
    const rex = { name: "Rex", categoryId: 1 };
    const created = await older("POST", "/v1/pets", rex, "first");
    expect(created).toMatchObject({ status: 201, json: { name: "Rex" } });
    expect(await rest("POST", "/v1/pets", rex, "first")).toMatchObject({
      status: 201,
      headers: { "idempotency-replayed": "true" },
      json: { ...(created.json as object), nickname: null },
    });

    const ada = { name: "Ada", categoryId: 1, nickname: "Countess" };
    expect(await rest("POST", "/v1/pets", ada, "second")).toMatchObject({ status: 201, json: ada });
    expect(await rest("POST", "/v1/pets", { ...ada, nickname: "Lady" }, "second")).toMatchObject({ status: 422 });
    const create = "mutation ($input: NewPet!) { createPet(input: $input) { nickname } }";
    const added = await graphql(create, { input: { ...ada, categoryId: "1", nickname: "Lady" } });
    expect(added).toEqual({ createPet: { nickname: "Lady" } });
    expect(await pets.create({ ...rex, nickname: "Rexy" } as typeof rex)).toHaveProperty("nickname", "Rexy");

    const nicknames = [null, "Countess", "Lady", "Rexy"].map((nickname) => ({ nickname }));
    expect((await rest("GET", "/v1/pets")).json).toMatchObject(nicknames);
    expect(await graphql("{ pets { nickname } }")).toEqual({ pets: nicknames });
    expect((await pets.list()).pets).toMatchObject(nicknames);
    // The client accepts a server that does not know the field.
    expect((await olderPets.list()).pets).toMatchObject(nicknames.map(() => ({ nickname: null })));
  });

  it("has a patch for each file of the guide, and for no other", async () => {
    const patches = await Promise.all(["types.patch", "places.patch"].map((file) => read(`./${file}`)));
    const patched = [...patches.join("\n").matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, path]) => path);
    expect([...new Set(patched)].sort()).toEqual((await filesOfGuide()).sort());
  });
});

/** The files in the code spans at the start of the items of the guide. */
async function filesOfGuide(): Promise<string[]> {
  const section = (await read("../../../../CONTRIBUTING.md")).split("## Add a field\n")[1]?.split(/^##/m)[0] ?? "";
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = ""]) => path);
}

async function read(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), "utf8");
}

function restCaller({ origin }: Service, key: string) {
  const { send } = openHttpClient(origin);
  return async (method: "GET" | "POST", path: string, body?: unknown, idempotencyKey = "") =>
    send(method, path, {
      key,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { "idempotency-key": idempotencyKey } }),
    });
}

/** Returns `data`. */
function graphqlCaller({ origin }: Service, key: string) {
  const { send } = openHttpClient(origin);
  return async (query: string, variables: unknown = {}) => {
    const { json, text } = await send("POST", "/graphql", { key, body: JSON.stringify({ query, variables }) });
    const { data, errors } = json as { readonly data?: unknown; readonly errors?: unknown };
    if (errors !== undefined) throw new Error(text);
    return data;
  };
}
