// The audits of the graphql-http package: each MUST and each SHOULD of GraphQL over HTTP.
import { shared } from "@petstore/harness";
import { serverAudits } from "graphql-http";
import { describe, expect, it } from "vitest";
import { openRunningStore } from "../running-store.js";

const store = await shared(openRunningStore({ services: ["graphql"] }));
const { key } = await store.database.issueKey();

/** The audits send no API key. */
const fetchWithKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${key}`);
  return fetch(input, { ...init, headers });
};

const audits = serverAudits({ url: `${store.originOf("graphql")}/graphql`, fetchFn: fetchWithKey });

describe("GraphQL over HTTP", () => {
  // A server need not do what it MAY do.
  for (const { id, name, fn } of audits.filter((audit) => !audit.name.startsWith("MAY "))) {
    it(`${id} ${name}`, async () => {
      expect(await fn()).toMatchObject({ status: "ok" });
    });
  }
});
