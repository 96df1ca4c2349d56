import type { Answer } from "@petstore/harness/network";
import { type Api, type Operation, type Outcome, type Pet, requestOptions, type Send, type Success } from "./api.js";

/**
 * The GraphQL API. Lists are read by the field `pets` or by the Relay connection. Its responses are read by these rules:
 * - An executed operation has HTTP status 200. The status of the contract is `errors[0].extensions.status`.
 * - A request that is refused before its execution has no `data`. Its HTTP status is the same, except that errors of the
 *   document and its variables have 200 under `application/json` (GraphQL over HTTP, section 6.4.1).
 * - The body of REST is the argument `input` here, and the connection calls `limit` `first`, as Relay does.
 */
export function createGraphqlApi(send: Send, field: "pets" | "petsConnection"): Api {
  return {
    name: field === "pets" ? "GraphQL" : "GraphQL connection",
    async send(call) {
      const { operation, method = "POST" } = call;
      if (operation.kind === "get") return undefined;
      // Both variants create in the same way.
      if (operation.kind === "create" && field === "petsConnection") return undefined;
      const own = method === "POST" ? { body: writeRequest(operation, field) } : {};
      const answer = await send(method, "/graphql", requestOptions(call, own));
      return { outcome: outcomeOf(answer), headers: answer.headers };
    },
  };
}

interface Response {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly code: string; readonly status: number };
  }[];
}

interface Connection {
  readonly nodes: readonly Pet[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** Does not compile until it names every field. */
const fieldNames = { id: 1, name: 2, categoryId: 3, status: 4 } satisfies Record<keyof Pet, number>;
const petFields = `{ ${Object.keys(fieldNames).join(" ")} }`;
const createDocument = `mutation ($input: NewPet!, $idempotencyKey: String) {
  createPet(input: $input, idempotencyKey: $idempotencyKey) ${petFields}
}`;
/** The argument `more` is a literal that the schema lacks. */
const listDocuments = {
  pets: (more: string) => `query ($limit: Int, $status: PetStatus, $cursor: String) {
    pets(limit: $limit, status: $status, cursor: $cursor ${more}) ${petFields}
  }`,
  petsConnection: (more: string) => `query ($limit: Int, $status: PetStatus, $cursor: String) {
    petsConnection(first: $limit, status: $status, after: $cursor ${more}) {
      nodes ${petFields} pageInfo { hasNextPage endCursor }
    }
  }`,
};
const restNames: Readonly<Record<string, string>> = { input: "body", first: "limit" };

/** Values are sent as variables, digit for digit. An argument that the schema lacks is written into the document. */
function writeRequest(operation: Exclude<Operation, { kind: "get" }>, field: "pets" | "petsConnection"): string {
  if (operation.kind === "create") {
    const { input, idempotencyKey: key } = operation;
    return bodyWith(createDocument, { input, idempotencyKey: key === undefined ? undefined : JSON.stringify(key) });
  }
  const { limit, status, cursor, ...unknown } = operation.query;
  const more = Object.entries(unknown).map(([name, value]) => `${name}: ${value}`);
  return bodyWith(listDocuments[field](more.join(" ")), { limit, status, cursor });
}

function bodyWith(query: string, variables: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(variables).filter(([, json]) => json !== undefined);
  return `{"query":${JSON.stringify(query)},"variables":{${given.map(([name, json]) => `"${name}":${json}`)}}}`;
}

function outcomeOf({ text }: Answer): Outcome {
  // The response to a preflight request.
  if (text === "") return { kind: "success", pets: [], nextCursor: null };
  const { data, errors } = JSON.parse(text) as Response;
  const [error] = errors ?? [];
  if (error === undefined) return read(data ?? {});
  const { code, status } = error.extensions;
  const message = error.message.replace(/(?<=^|; )(input|first)(?= )/g, (name) => restNames[name] ?? name);
  return { kind: "failure", code, message, status };
}

function read(data: Readonly<Record<string, unknown>>): Success {
  if (data.createPet !== undefined) return { kind: "success", pets: [data.createPet as Pet], nextCursor: null };
  if (data.pets !== undefined) return { kind: "success", pets: data.pets as readonly Pet[] };
  const { nodes, pageInfo } = data.petsConnection as Connection;
  return { kind: "success", pets: nodes, nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}
