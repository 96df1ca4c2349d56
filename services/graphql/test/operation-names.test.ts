// The log line and the span of a request name its GraphQL operation, which the client chose.
import { openTestStore } from "@petstore/checks/test-store";
import { createGraphqlRouter } from "@petstore/graphql";
import { openTraceReceiver } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

it("a log line contains the operation, and neither a key nor the text of the document", async () => {
  const { key } = await store.issueKey();
  async function lineOf(query: string, options: { readonly operationName?: string } = {}): Promise<object> {
    const line = await store.lineOf(await store.ask(query, { key, ...options }));
    expect(JSON.stringify(line)).not.toMatch(/mauve|\{ id|pets_(live|test)/i);
    const { operationType, operationName, cost } = line;
    return { operationType, operationName, cost };
  }

  expect(await lineOf("query List { pets { id } again: pets { id } }")).toEqual({
    operationType: "query",
    operationName: "List",
    cost: 2,
  });
  const pet = '{name: "mauve", categoryId: 1}';
  expect(
    await lineOf(`query A { pets { id } } mutation B { createPet(input: ${pet}) { id } }`, { operationName: "B" }),
  ).toEqual({ operationType: "mutation", operationName: "B", cost: 1 });
  expect(await lineOf("{ pets { id } }")).toEqual({ operationType: "query", cost: 1 });
  const long = "a".repeat(1_000);
  expect(await lineOf(`query ${long} { pets { id } }`)).toMatchObject({ operationName: "a".repeat(64) });
  expect(await lineOf(`query ${key} { pets { id } }`)).toEqual({ operationType: "query", cost: 1 });
  expect(await lineOf(`query ${"x".repeat(50)}${key} { pets { id } }`)).toEqual({ operationType: "query", cost: 1 });
  // Refused before its cost is known.
  expect(await lineOf("query Count($limit: Int!) { pets(limit: $limit) { id } }")).toEqual({
    operationType: "query",
    operationName: "Count",
  });
  // The document has no such operation.
  expect(await lineOf("query A { pets { id } }", { operationName: "mauve" })).toEqual({});
});

it("a span contains the type and the name of the operation", async () => {
  await using receiver = await openTraceReceiver();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const traced = await openTestStore({ environment, createRouters: [createGraphqlRouter] });
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
