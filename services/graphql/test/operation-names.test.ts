// The log line and the span of a request name its GraphQL operation, which the client chose.

import { createGraphqlApi } from "@petstore/graphql";
import { openTraceReceiver } from "@petstore/harness/network";
import { openTestStore } from "@petstore/test-store";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

const { key } = await store.issueKey();
const create = 'createPet(input: {name: "mauve", categoryId: 1}) { id }';

it.each<[what: string, expected: readonly unknown[], query: string, operationName?: string]>([
  ["two root fields", ["query", "List", 2], "query List { pets { id } again: pets { id } }"],
  ["the chosen operation", ["mutation", "B", 1], `query A { pets { id } } mutation B { ${create} }`, "B"],
  ["no name", ["query", undefined, 1], "{ pets { id } }"],
  ["a long name", ["query", "a".repeat(64), 1], `query ${"a".repeat(1_000)} { pets { id } }`],
  ["a key as its name", ["query", undefined, 1], `query ${key} { pets { id } }`],
  ["a key in its name", ["query", undefined, 1], `query ${"x".repeat(50)}${key} { pets { id } }`],
  ["refused variables", ["query", "Count", undefined], "query Count($n: Int!) { pets(limit: $n) { id } }"],
])(
  "a log line has type, name and cost of an operation, no key and no text: %s",
  async (_what, expected, query, name) => {
    const line = await store.lineOf(await store.ask(query, { key, ...(name && { operationName: name }) }));
    expect(JSON.stringify(line)).not.toMatch(/mauve|\{ id|pets_(live|test)/i);
    expect([line.operationType, line.operationName, line.cost]).toEqual(expected);
  },
);

it("a span contains the type and the name of the operation", async () => {
  await using receiver = await openTraceReceiver();
  const traced = await openTestStore([createGraphqlApi], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const { key } = await traced.issueKey();
  for (const query of ["query List { pets { id } }", `query ${key} { pets { id } }`]) {
    await traced.call("POST", "/graphql", { key, body: JSON.stringify({ query }) });
  }
  await traced[Symbol.asyncDispose]();
  const exported = receiver.requests.map(({ body }) => body).join();
  expect(exported.match(/"graphql\.operation\.\w+","value":\{"stringValue":"\w+"/g)).toEqual([
    '"graphql.operation.type","value":{"stringValue":"query"',
    '"graphql.operation.name","value":{"stringValue":"List"',
    '"graphql.operation.type","value":{"stringValue":"query"',
  ]);
  expect(exported).not.toContain("pets_");
});
