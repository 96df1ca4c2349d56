// The Relay connection, and idempotency keys of several root fields. tools/checks/conformance/contract compares the pets and
// errors of the connection with those of the other lists.
import { expect, it } from "vitest";
import type { PetConnectionType } from "../src/schema/pet-connection-type.js";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const caller = await store.issueKey();
for (const status of ["sold", "pending", "sold", "sold"]) {
  await store.execute(`insert into pets (name, category_id, status) values ('Ada', 1, '${status}')`);
}

async function dataOf<Data>(query: string): Promise<Data> {
  return ((await store.ask(query, caller)).json as { data: Data }).data;
}

async function page(args: string): Promise<PetConnectionType> {
  const pageInfo = "hasNextPage hasPreviousPage startCursor endCursor";
  const query = `{ petsConnection${args} { edges { cursor node { id } } nodes { id } pageInfo { ${pageInfo} } } }`;
  return (await dataOf<{ petsConnection: PetConnectionType }>(query)).petsConnection;
}

it("a connection reports whether there are pages before and after it", async () => {
  const first = await page("(first: 2)");
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  const second = await page(`(first: 2, after: "${first.pageInfo.endCursor}")`);
  expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  const pageInfo = { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null };
  expect(await page(`(after: "${second.pageInfo.endCursor}")`)).toEqual({ edges: [], nodes: [], pageInfo });
});

it("a connection has a cursor for every edge, which continues both kinds of lists after that edge", async () => {
  const { edges, pageInfo } = await page("(status: sold)");
  expect([edges[0]?.cursor, edges.at(-1)?.cursor]).toEqual([pageInfo.startCursor, pageInfo.endCursor]);
  for (const [index, { cursor }] of edges.entries()) {
    const later = edges.slice(index + 1);
    expect((await page(`(status: sold, after: "${cursor}")`)).edges).toEqual(later);
    const { pets } = await dataOf<{ pets: unknown }>(`{ pets(status: sold, cursor: "${cursor}") { id } }`);
    expect(pets).toEqual(later.map(({ node }) => node));
  }
});

it("a status that is null counts as absent, in every notation, so each create is a repetition of the others", async () => {
  const create = (status: string) =>
    `createPet(input: {name: "Ada", categoryId: 1${status}}, idempotencyKey: "any status") { id status }`;
  const input = (status: object) => ({ input: { name: "Ada", categoryId: "1", ...status } });
  const whole = 'createPet(input: $input, idempotencyKey: "any status") { id status }';
  const attempts: [query: string, variables?: object][] = [
    [`mutation { ${create("")} }`],
    [`mutation { ${create(", status: null")} }`],
    [`mutation { ${create(", status: available")} }`],
    [`mutation ($status: PetStatus) { ${create(", status: $status")} }`, { status: null }],
    [`mutation ($status: PetStatus) { ${create(", status: $status")} }`, {}],
    [`mutation ($status: PetStatus = null) { ${create(", status: $status")} }`],
    [`mutation ($input: NewPet!) { ${whole} }`, input({})],
    [`mutation ($input: NewPet!) { ${whole} }`, input({ status: null })],
    [`mutation ($input: NewPet! = {name: "Ada", categoryId: 1, status: null}) { ${whole} }`],
  ];
  const answers = [];
  for (const [query, variables] of attempts) answers.push((await store.ask(query, { ...caller, variables })).json);
  expect(answers[0]).toMatchObject({ data: { createPet: { status: "available" } } });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

it("an idempotency key is not reported as replayed if the mutation also adds a new pet, without a key", async () => {
  const create = (idempotencyKey: string) =>
    `createPet(input: {name: "Ada", categoryId: 1}, idempotencyKey: ${idempotencyKey}) { id }`;
  const first = await store.ask(`mutation { a: ${create('"mixed"')} }`, caller);
  const mixed = await store.ask(`mutation { a: ${create('"mixed"')} b: ${create("null")} }`, caller);
  expect(mixed.headers["idempotency-replayed"]).toBeUndefined();
  expect(mixed.json).toMatchObject({ data: (first.json as { data: object }).data, extensions: { cost: 2 } });
});
