// Additions of GraphQL to the contract table (tools/checks/conformance/contract): literals, the Relay connection, aliases.
import { afterAll, describe, expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const createPet = "mutation ($pet: NewPet!) { createPet(input: $pet) { id name categoryId status } }";

describe("a categoryId is exact", () => {
  const asLiteral = (literal: string) =>
    store.ask(`mutation { createPet(input: {name: "Ada", categoryId: ${literal}}) { categoryId } }`, { key });
  const asVariable = (json: string) =>
    store.call("POST", "/graphql", {
      key,
      body: `{"query": "mutation($id: ID!) { createPet(input: {name: \\"Ada\\", categoryId: $id}) { categoryId } }", "variables": {"id": ${json}}}`,
    });
  const ways = [
    ["a literal", asLiteral],
    ["a variable", asVariable],
  ] as const;

  describe.each(ways)("as %s", (_way, create) => {
    it.each(["0", "-1", "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808"])(
      "%s, as integer and as string",
      async (digits) => {
        for (const written of [digits, `"${digits}"`]) {
          expect((await create(written)).json).toMatchObject({ data: { createPet: { categoryId: digits } } });
        }
      },
    );

    it.each(["1000.0", "1e3", "10.00e2"])("%s, as the integer 1000", async (written) => {
      expect((await create(written)).json).toMatchObject({ data: { createPet: { categoryId: "1000" } } });
    });

    it.each([
      "9223372036854775808",
      "-9223372036854775809",
      '"9223372036854775808"',
      '"1.5"',
      '"abc"',
      '""',
      '" 1"',
      '"01"',
      '"0x1"',
      "1.5",
      "1e400",
      "true",
    ])("%s is refused in core's words", async (written) => {
      expect(errorsOf(await create(written))).toMatchObject([
        {
          message: "categoryId must be an integer from -9223372036854775808 to 9223372036854775807",
          extensions: { code: "VALIDATION_FAILED", status: 400 },
        },
      ]);
    });
  });
});

describe("pets", async () => {
  const own = await openGraphqlStore();
  afterAll(() => own[Symbol.asyncDispose]());
  const caller = await own.issueKey();
  for (const status of ["sold", "pending", "sold", "sold"]) {
    await own.ask(createPet, { key: caller.key, variables: { pet: { name: status, categoryId: 1, status } } });
  }
  const ids = async (query: string, variables: unknown = {}) =>
    ((await own.ask(query, { key: caller.key, variables })).json as { data: { pets: { id: string }[] } }).data.pets.map(
      ({ id }) => id,
    );

  it("may have a null status, which is no filter", async () => {
    const query = "query ($status: PetStatus) { pets(status: $status) { id } }";
    expect(await ids(query, { status: null })).toEqual(["1", "2", "3", "4"]);
  });

  it("have an error with the path of their field", async () => {
    const answer = await own.ask("{ a: pets(limit: 0) { id } }", { key: caller.key });
    expect(errorsOf(answer)).toMatchObject([{ message: "limit must be an integer from 1 to 100", path: ["a"] }]);
  });

  describe("petsConnection", () => {
    const page = async (args: string) => {
      const query = `{ petsConnection${args} { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
      const { json } = await own.ask(query, { key: caller.key });
      return (json as { data: { petsConnection: PetsConnection } }).data.petsConnection;
    };

    it("reads the whole list by the end cursor of each page", async () => {
      const first = await page("(first: 2)");
      expect(first).toMatchObject({
        nodes: [{ id: "1" }, { id: "2" }],
        pageInfo: { hasNextPage: true, hasPreviousPage: false },
      });
      const second = await page(`(first: 2, after: "${first.pageInfo.endCursor}")`);
      expect(second).toMatchObject({
        nodes: [{ id: "3" }, { id: "4" }],
        pageInfo: { hasNextPage: false, hasPreviousPage: true },
      });
      const third = await page(`(first: 2, after: "${second.pageInfo.endCursor}")`);
      expect(third).toEqual({
        edges: [],
        nodes: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null },
      });
    });

    it("has a cursor for every edge, which continues the list after that edge", async () => {
      const { edges, pageInfo } = await page("(status: sold)");
      expect([edges[0]?.cursor, edges.at(-1)?.cursor]).toEqual([pageInfo.startCursor, pageInfo.endCursor]);
      for (const [index, { cursor }] of edges.entries()) {
        expect((await page(`(status: sold, after: "${cursor}")`)).edges).toEqual(edges.slice(index + 1));
        expect(await ids(`{ pets(status: sold, cursor: "${cursor}") { id } }`)).toEqual(
          edges.slice(index + 1).map(({ node }) => node.id),
        );
      }
    });

    it("names its own argument in an error", async () => {
      const answer = await own.ask("{ petsConnection(first: 101) { nodes { id } } }", { key: caller.key });
      expect(errorsOf(answer)).toMatchObject([{ message: "first must be an integer from 1 to 100" }]);
    });
  });
});

interface PetsConnection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
}

describe("idempotencyKey", () => {
  const create = (name: string, idempotencyKey: string | null) =>
    store.ask(
      "mutation ($name: String!, $key: String) { createPet(input: {name: $name, categoryId: 1}, idempotencyKey: $key) { id } }",
      {
        key,
        variables: { name, key: idempotencyKey },
      },
    );

  it("may be null", async () => {
    expect((await create("Ada", null)).json).not.toEqual((await create("Ada", null)).json);
  });

  it("adds one pet if a hundred requests have it at the same time", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => create("Ada", "hundred")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers["idempotency-replayed"] === undefined)).toHaveLength(1);
  });

  it("is not reported as replayed if the mutation also adds a new pet", async () => {
    await create("Ada", "mixed");
    const answer = await store.ask(
      'mutation { a: createPet(input: {name: "Ada", categoryId: 1}, idempotencyKey: "mixed") { id } b: createPet(input: {name: "Ada", categoryId: 1}) { id } }',
      { key },
    );
    expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    expect(answer.json).toMatchObject({ extensions: { cost: 2 } });
  });
});
