/** An API of the store as those outside know it: the process that serves it, its path, and what callers send. */
export interface Api {
  readonly name: string;
  /** Built before it can be started. */
  readonly main: URL;
  /** What a balancer knows it by. */
  readonly path: string;
  readonly list: Call;
  create(name: string, idempotencyKey: string): Call;
  /** Whether an answer acknowledges a create. */
  isCreated(status: number, text: string): boolean;
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export const restRouter: Api = {
  name: "rest",
  main: new URL("../../../services/rest/dist/main.js", import.meta.url),
  path: "/v1",
  list: { method: "GET", path: "/v1/pets?limit=2" },
  create: (name, idempotencyKey) => ({
    method: "POST",
    path: "/v1/pets",
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    body: JSON.stringify({ name, categoryId: 1 }),
  }),
  isCreated: (status) => status === 201,
};

export const graphqlRouter: Api = {
  name: "graphql",
  main: new URL("../../../services/graphql/dist/main.js", import.meta.url),
  path: "/graphql",
  list: operation("{ pets(limit: 2) { id name } }"),
  create: (name, key) =>
    operation(
      `mutation Create($name: String!, $key: String) {
        createPet(input: { name: $name, categoryId: "1" }, idempotencyKey: $key) { id }
      }`,
      { name, key },
    ),
  isCreated: (status, text) => status === 200 && text.includes('"createPet":{'),
};

function operation(query: string, variables?: object): Call {
  const headers = { "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) };
}

/** Every API that runs as a process of its own. */
export const apis: readonly Api[] = [restRouter, graphqlRouter];

/** For a row that starts one of each. */
export const bothApis: readonly { readonly api: Api }[] = apis.map((api) => ({ api }));

/** For a row that starts two of each. */
export const fourProcesses: readonly { readonly api: Api }[] = [...bothApis, ...bothApis];
