/** Requests to the GraphQL API: what its schema allows, and variations of that. */
import { dearDocuments, dearValues, hostileDocuments, hostileVariables } from "@petstore/harness/responses";
import fc from "fast-check";
import type { GraphQLSchema } from "graphql";
import { type Operation, oddDocument, operations } from "./graphql-documents.js";
import { caller, contentType, moreHeaders } from "./headers.js";
import { anyJson, damaged, hostileString, type Member, mostly, objectText, weighted } from "./json.js";
import { type HttpRequest, otherMethod } from "./rest-requests.js";

export function graphqlRequests(schema: GraphQLSchema): fc.Arbitrary<HttpRequest> {
  const operation = operations(schema);
  return fc
    .record({ caller, request: weighted([6, posted(operation)], [1, inUrl(operation)]), more: moreHeaders })
    .map(({ caller: by, request, more }) => ({ ...request, caller: by, headers: [...request.headers, ...more] }));
}

type Transport = Omit<HttpRequest, "caller">;

const strayPath = fc.constantFrom("/graphql/", "/graphql?query={__typename}", "/GraphQL", "//graphql", "/graphql%00");

function posted(operation: fc.Arbitrary<Operation>): fc.Arbitrary<Transport> {
  const text = weighted(
    [30, requestText(operation)],
    [3, requestText(oddDocument.map((document) => ({ document, variables: [] })))],
    [1, oddRequest],
  );
  return fc.record({
    method: mostly("POST", otherMethod),
    path: mostly("/graphql", strayPath),
    headers: contentType.map((type) => [["content-type", type] as const]),
    body: weighted([12, text.map((json) => Buffer.from(json))], [1, damaged(text)]),
  });
}

const moreParameters = fc.constantFrom(
  ...["&operationName=Named", "&variables=1", "&extensions={}", "&__proto__=1", "&%=%"],
);
const longestPath = 12_000;

function inUrl(operation: fc.Arbitrary<Operation>): fc.Arbitrary<Transport> {
  return fc
    .tuple(operation, mostly("GET", fc.constant("HEAD")), mostly("", moreParameters, 1))
    .map(([{ document, variables }, method, more]) => {
      const [query, given] = [document, objectText(variables)].map((part) => encodeURIComponent(part.toWellFormed()));
      return { method, path: `/graphql?query=${query}&variables=${given}${more}`.slice(0, longestPath), headers: [] };
    });
}

const otherName = fc.oneof(fc.constantFrom("variables", "operationName", "extensions"), hostileString);

function requestText(operation: fc.Arbitrary<Operation>): fc.Arbitrary<string> {
  const withMember = (document: string, ...member: Member) => objectText([["query", JSON.stringify(document)], member]);
  const usual = operation.map(({ document, variables }) => withMember(document, "variables", objectText(variables)));
  const unusual = fc
    .tuple(operation, otherName, anyJson)
    .map(([{ document }, name, json]) => withMember(document, name, json));
  const batch = fc
    .tuple(usual, fc.integer({ min: 0, max: 12 }))
    .map(([text, count]) => `[${Array<string>(count).fill(text)}]`);
  return weighted([20, usual], [4, unusual], [1, batch]);
}

const oddRequest: fc.Arbitrary<string> = fc.oneof(
  anyJson,
  anyJson.map((json) => `{"query":${json}}`),
  fc.constantFrom(...hostileDocuments, ...hostileVariables, ...dearDocuments).map(({ write }) => write("")),
  fc
    .constantFrom(...Object.values(dearValues))
    .map((json) => `{"query":"mutation($i:NewPet!){createPet(input:$i){id}}","variables":{"i":${json}}}`),
  fc.constantFrom(
    '{"query":"{ __typename }","query":"{ __typename }"}',
    '{"__proto__":{"query":"{ __typename }"}}',
    '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"a"}}}',
  ),
);
