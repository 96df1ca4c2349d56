// The first time a document is executed by Apollo, later compiled where it is plain: nobody may see a difference.
import { afterAll, describe, expect, it } from "vitest";
import { openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
await store.execute(
  "insert into pets (name, category_id, status) select 'Ada', 9007199254740993, 'sold' from generate_series(1, 3)",
);

const list = "query ($limit: Int!, $status: PetStatus) { pets(limit: $limit, status: $status) { id name status } }";

describe("a document that is asked again is answered as it was the first time", () => {
  it.each<[string, string, Record<string, unknown>?]>([
    ["a list", "{ pets { id name categoryId status } }"],
    [
      "aliases, and a name that comes twice",
      "{ a: pets(limit: 1) { id id number: categoryId } b: pets { __typename } }",
    ],
    [
      "a connection",
      "{ petsConnection(first: 2) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }",
    ],
    ["variables", list, { limit: 2, status: "sold" }],
    ["a variable that is null", list, { limit: 2, status: null }],
    ["a variable that is left out", list, { limit: 2 }],
    ["a variable beyond its limit", list, { limit: 101, status: "sold" }],
    ["a variable that fits no type", list, { limit: "two", status: "gone" }],
    ["a default", "query ($limit: Int = 1) { pets(limit: $limit) { id } }"],
    ["a literal beyond its limit", "{ pets(limit: 0) { id } }"],
    ["two fields, one of which fails", '{ pets { id } broken: pets(cursor: "none") { id } }'],
    ["a field that may not be null and fails", '{ petsConnection(after: "none") { nodes { id } } }'],
    ["fragments", "{ pets { ...F ... on Pet { name } } } fragment F on Pet { id }"],
    ["directives", "query ($no: Boolean!) { pets { id name @skip(if: $no) } }", { no: true }],
    ["introspection", "{ __schema { types { name } } pets { id } }"],
    ["a mutation that is refused", 'mutation { createPet(input: { name: "", categoryId: "1.5" }) { id } }'],
    [
      "a mutation that makes no second animal",
      'mutation { createPet(input: { name: "Bo", categoryId: 1 }, idempotencyKey: "again") { id } }',
    ],
  ])("%s", async (_what, query, variables) => {
    const ask = async () => {
      const { status, json } = await store.ask(query, { key, ...(variables && { variables }) });
      return { status, json };
    };
    const first = await ask();
    for (let time = 0; time < 3; time++) expect(await ask()).toEqual(first);
  });

  it.each([
    ["the first fails", "", []],
    ["none fails", "Al", ["Al", "Bo"]],
  ])("several mutations, of which %s: none behind a failure is executed", async (_what, name, made) => {
    const query =
      "mutation ($a: NewPet!, $b: NewPet!) { a: createPet(input: $a) { name } b: createPet(input: $b) { name } }";
    const variables = { a: { name, categoryId: 1 }, b: { name: "Bo", categoryId: 1 } };
    const added = () => store.execute("delete from pets where name in ('Al', 'Bo') returning name");
    const ask = async () => {
      const { status, json } = await store.ask(query, { key, variables });
      return { status, json, added: await added() };
    };
    await added();
    const first = await ask();
    expect(first.added).toEqual(made.map((each) => ({ name: each })));
    for (let time = 0; time < 3; time++) expect(await ask()).toEqual(first);
  });

  it("a document that would take for ever to compile", { timeout: 5_000 }, async () => {
    const doubling = Array.from(
      { length: 40 },
      (_, level) => `fragment F${level} on Pet { ...F${level + 1} ...F${level + 1} }`,
    );
    const query = `{ pets { ...F0 } } ${doubling.join(" ")} fragment F40 on Pet { id }`;
    for (let time = 0; time < 3; time++) {
      expect(await store.ask(query, { key })).toMatchObject({ status: 200 });
    }
  });
});
