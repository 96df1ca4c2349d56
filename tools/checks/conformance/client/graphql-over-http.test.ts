// The audits of the graphql-http package: each MUST and each SHOULD of GraphQL over HTTP.
import { type Audit, serverAudits } from "graphql-http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRunningStore, type RunningStore } from "../running-store.js";

let store: RunningStore;
let apiKey: string;
/** The audits need the address before the service has one. */
const placeholder = "http://graphql.example/graphql";

beforeAll(async () => {
  store = await openRunningStore({ services: ["graphql"] });
  apiKey = (await store.database.issueKey()).key;
});
afterAll(() => store?.[Symbol.asyncDispose]());

/** The audits send no API key. */
const fetchWithKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${apiKey}`);
  return fetch(`${input}`.replace("http://graphql.example", store.originOf("graphql")), { ...init, headers });
};

const audits: readonly Audit[] = serverAudits({ url: placeholder, fetchFn: fetchWithKey });

describe("GraphQL over HTTP", () => {
  // A server need not do what it MAY do.
  for (const { id, name, fn } of audits.filter((audit) => !audit.name.startsWith("MAY "))) {
    it(`${id} ${name}`, async () => {
      expect(await fn()).toMatchObject({ status: "ok" });
    });
  }
});
