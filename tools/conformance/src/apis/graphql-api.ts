import type { Answer, Api, ApiName, Call, Operation, Pet, Success } from "./api.js";
import { callerHeaders, type Exchange, type HttpAnswer, openHttpExchange } from "./http-exchange.js";

/**
 * The GraphQL API, asked for lists by its plain field `pets` or by its Relay connection. The rules by which its answers
 * are read as the contract's:
 * - What is executed has the HTTP status 200 by design; the contract's status is `errors[0].extensions.status`.
 * - What is refused before execution has no `data`, and that status is also the HTTP status, except that faults of the
 *   document and its variables have 200 under `application/json` (GraphQL over HTTP, section 6.4.1).
 * - What REST calls the body is the argument `input` here, and the connection says `first` for `limit`, as Relay does.
 */
export function openGraphqlApi(
  origin: string,
  list: "pets" | "petsConnection" = "pets",
  exchange: Exchange = openHttpExchange(origin),
): Api {
  const name: ApiName = list === "pets" ? "graphql" : "graphql connection";
  return {
    name,
    async send(call: Call) {
      const { operation, headers, method = "POST", body } = call;
      // Creating is the same through both; the plain API has shown it.
      if (name === "graphql connection" && operation.kind === "create") return undefined;
      const answer = await exchange({
        path: "/graphql",
        method,
        headers: { ...callerHeaders(call), "content-type": "application/json", ...headers },
        body: method === "POST" ? (body ?? writeRequest(operation, list)) : undefined,
      });
      return readAnswer(operation, answer);
    },
  };
}

interface Response {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly code: string; readonly status: number };
  }[];
  readonly extensions?: { readonly cost: number };
}

interface Connection {
  readonly nodes: readonly Pet[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Argument {
  readonly name: string;
  readonly type: string;
  /** JSON text. */
  readonly value: string;
}

const petFields = "{ id name categoryId status }";

/** Types of `limit`, `status` and `cursor`, and what the connection calls them. */
const listArguments: Readonly<Record<string, { readonly type: string; readonly relay: string }>> = {
  limit: { type: "Int!", relay: "first" },
  status: { type: "PetStatus", relay: "status" },
  cursor: { type: "String", relay: "after" },
};

const restNames: Readonly<Record<string, string>> = { input: "body", first: "limit" };

/** Values travel as variables, digit for digit; an argument the schema does not have is written into the document. */
function writeRequest(operation: Operation, list: "pets" | "petsConnection"): string {
  if (operation.kind === "create") {
    const { input, idempotencyKey } = operation;
    const key = { name: "idempotencyKey", type: "String", value: JSON.stringify(idempotencyKey) };
    const given = [{ name: "input", type: "NewPet!", value: input }, ...(idempotencyKey === undefined ? [] : [key])];
    return writeOperation("mutation", "createPet", given, [], petFields);
  }
  const known: Argument[] = [];
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(operation.query)) {
    const argument = listArguments[name];
    if (argument === undefined) unknown.push(`${name}: ${value}`);
    else known.push({ name: list === "pets" ? name : argument.relay, type: argument.type, value });
  }
  const selection = list === "pets" ? petFields : `{ nodes ${petFields} pageInfo { hasNextPage endCursor } }`;
  return writeOperation("query", list, known, unknown, selection);
}

function writeOperation(
  type: "query" | "mutation",
  field: string,
  given: readonly Argument[],
  literals: readonly string[],
  selection: string,
): string {
  const declared = given.map((argument) => `$${argument.name}: ${argument.type}`);
  const used = [...given.map(({ name }) => `${name}: $${name}`), ...literals];
  const parenthesized = (parts: readonly string[]) => (parts.length === 0 ? "" : `(${parts.join(", ")})`);
  const query = `${type} ${parenthesized(declared)} { ${field}${parenthesized(used)} ${selection} }`;
  const variables = given.map(({ name, value }) => `${JSON.stringify(name)}:${value}`);
  return `{"query":${JSON.stringify(query)},"variables":{${variables.join(",")}}}`;
}

function readAnswer(operation: Operation, { status, headers, text, receivedAtMs }: HttpAnswer): Answer {
  // A preflight has no body.
  if (text === "") return { outcome: { kind: "success", pets: [], nextCursor: null }, headers, receivedAtMs };
  const { data, errors, extensions } = JSON.parse(text) as Response;
  const [error] = errors ?? [];
  if (error === undefined) {
    if (status !== 200) throw new Error(`GraphQL answers ${status} to what it has executed`);
    if (extensions?.cost !== 1) throw new Error(`GraphQL says that one field costs ${extensions?.cost}`);
    return { outcome: readData(operation, data ?? {}), headers, receivedAtMs };
  }
  const { code, status: said } = error.extensions;
  if (status !== 200 && (status !== said || data !== undefined)) {
    throw new Error(`GraphQL says ${said} in the body of a ${status}`);
  }
  const message = error.message.replace(/(?<=^|; )(input|first)(?= )/g, (subject) => restNames[subject] ?? subject);
  return { outcome: { kind: "failure", code, message, status: said }, headers, receivedAtMs };
}

function readData(operation: Operation, data: Readonly<Record<string, unknown>>): Success {
  if (operation.kind === "create") return { kind: "success", pets: [data.createPet as Pet], nextCursor: null };
  if (data.pets !== undefined) return { kind: "success", pets: data.pets as readonly Pet[] };
  const { nodes, pageInfo } = data.petsConnection as Connection;
  return { kind: "success", pets: nodes, nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}
