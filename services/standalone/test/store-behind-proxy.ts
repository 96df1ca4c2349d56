import { migrate } from "@petstore/core";
import { createGraphqlRouter } from "@petstore/graphql";
import { createTestDatabase } from "@petstore/harness";
import { type FaultProxy, openFaultProxy } from "@petstore/harness/network";
import { createRestRouter } from "@petstore/rest";
import { type Answer, openTestStore, type TestStore } from "@petstore/test-store";

export interface StoreBehindProxy extends AsyncDisposable {
  readonly store: TestStore;
  /** Between the service and PostgreSQL. */
  readonly proxy: FaultProxy;
}

interface StoreOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The service treats the proxy as a PgBouncer and listens for no notifications. */
  readonly isPooled?: boolean;
}

/** Both APIs, over a database whose connections a test can cut or delay. */
export async function openStoreBehindProxy(options: StoreOptions = {}): Promise<StoreBehindProxy> {
  const { environment, isPooled = false } = options;
  const database = await createTestDatabase();
  await migrate(database.directUrl);
  const proxy = await openFaultProxy({ url: database.directUrl });
  const url = new URL(proxy.url);
  if (isPooled) url.searchParams.set("pgbouncer", "true");
  const store = await openTestStore({
    routers: [createRestRouter, createGraphqlRouter],
    environment: { DATABASE_URL: url.href, ...environment },
  });
  return {
    store,
    proxy,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

interface Sending {
  readonly key?: string;
  /** The address in `X-Forwarded-For`. */
  readonly from?: string;
}

/** One list, over either API. */
export const lists: readonly ((store: TestStore, sending: Sending) => Promise<Answer>)[] = [
  (store, sending) => store.call("GET", "/v1/pets", optionsOf(sending)),
  (store, sending) => store.call("POST", "/graphql", { ...optionsOf(sending), body: graphql("{ pets { id } }") }),
];

/** One create, over either API. */
export const creates: readonly ((store: TestStore, sending: Sending) => Promise<Answer>)[] = [
  (store, sending) => store.call("POST", "/v1/pets", { ...optionsOf(sending), body: '{"name":"Ada","categoryId":1}' }),
  (store, sending) =>
    store.call("POST", "/graphql", {
      ...optionsOf(sending),
      body: graphql('mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }'),
    }),
];

/** The code of a problem, of either API. */
export function codeOf({ text }: Answer): string | undefined {
  return /"code":"(\w+)"/.exec(text)?.[1];
}

export function graphql(query: string): string {
  return JSON.stringify({ query });
}

function optionsOf({ key, from }: Sending) {
  return { ...(key !== undefined && { key }), headers: from === undefined ? {} : { "X-Forwarded-For": from } };
}
