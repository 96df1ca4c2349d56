// Additions of GraphQL to the contract table (tools/checks/conformance/contract): the Relay connection, aliases, null.
import { describe, expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

describe("a list", async () => {
  const own = await openSharedStore();
  const caller = await own.issueKey();
  for (const status of ["sold", "pending", "sold", "sold"]) {
    await own.execute(`insert into pets (name, category_id, status) values ('Ada', 1, '${status}')`);
  }

  const petsOf = async (query: string, variables: unknown = {}) =>
    ((await own.ask(query, { ...caller, variables })).json as { data: { pets: { id: string }[] } }).data.pets;

  async function page(args: string): Promise<PetsConnection> {
    const pageInfo = "hasNextPage hasPreviousPage startCursor endCursor";
    const query = `{ petsConnection${args} { edges { cursor node { id } } nodes { id } pageInfo { ${pageInfo} } } }`;
    return ((await own.ask(query, caller)).json as { data: { petsConnection: PetsConnection } }).data.petsConnection;
  }

  it("may have a null status, which is no filter", async () => {
    const query = "query ($status: PetStatus) { pets(status: $status) { id } }";
    expect(await petsOf(query, { status: null })).toEqual(["1", "2", "3", "4"].map((id) => ({ id })));
  });

  it("as a connection reports whether there are pages before and after it", async () => {
    const first = await page("(first: 2)");
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const second = await page(`(first: 2, after: "${first.pageInfo.endCursor}")`);
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const pageInfo = { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null };
    expect(await page(`(after: "${second.pageInfo.endCursor}")`)).toEqual({ edges: [], nodes: [], pageInfo });
  });

  it("as a connection has a cursor for every edge, which continues both kinds of lists after that edge", async () => {
    const { edges, pageInfo } = await page("(status: sold)");
    expect([edges[0]?.cursor, edges.at(-1)?.cursor]).toEqual([pageInfo.startCursor, pageInfo.endCursor]);
    for (const [index, { cursor }] of edges.entries()) {
      const later = edges.slice(index + 1);
      expect((await page(`(status: sold, after: "${cursor}")`)).edges).toEqual(later);
      const pets = await petsOf(`{ pets(status: sold, cursor: "${cursor}") { id } }`);
      expect(pets).toEqual(later.map(({ node }) => node));
    }
  });
});

interface PetsConnection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null };
}

describe("an idempotency key", () => {
  const field = (idempotencyKey: string) =>
    `createPet(input: {name: "Ada", categoryId: 1}, idempotencyKey: ${idempotencyKey}) { id }`;

  it("may be null, which is none", async () => {
    const create = async () => (await store.ask(`mutation { ${field("null")} }`, { key })).text;
    expect(await create()).not.toBe(await create());
  });

  it("is not reported as replayed if the mutation also adds a new pet", async () => {
    await store.ask(`mutation { ${field('"mixed"')} }`, { key });
    const answer = await store.ask(`mutation { a: ${field('"mixed"')} b: ${field("null")} }`, { key });
    expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    expect(answer.json).toMatchObject({ extensions: { cost: 2 } });
  });
});
