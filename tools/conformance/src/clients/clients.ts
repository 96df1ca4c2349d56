import { maxInt64 } from "@petstore/core";
import { type Check, checkThat, demand, type Section } from "../section.js";
import type { Store } from "../store.js";
import { openApolloClient } from "./apollo-client.js";
import { compile, generateTypes, usage } from "./generated-types.js";
import type { GraphqlClient, OpenClient, Outcome } from "./graphql-client.js";
import { openGraphqlRequest } from "./graphql-request.js";
import { openUrql } from "./urql.js";

export const clients: Section = {
  name: "clients",
  about: "Apollo Client, urql and graphql-request see data, codes and Retry-After; graphql-codegen makes types",
  async run({ store, startServices }) {
    await using services = await startServices(["graphql"]);
    const url = `${services.originOf("graphql")}/graphql`;
    const checks: Check[] = [];
    for (const open of [openApolloClient, openUrql, openGraphqlRequest])
      checks.push(...(await tryOut(open, url, store)));
    const types = await checkThat("graphql-codegen's types of schema.graphql compile", async () => {
      const { ofSchema, ofOperations } = await generateTypes();
      const complaint = (await compile(ofSchema)) + (await compile(ofOperations + usage));
      demand(complaint === "", complaint);
      return undefined;
    });
    return [...checks, types];
  },
};

async function tryOut(open: OpenClient, url: string, store: Store): Promise<Check[]> {
  const client = await openFor(open, url, store, 1_000);
  const { name } = client;
  return [
    await checkThat(`${name}: a mutation answers an int64 digit for digit`, async () => {
      const created = await client.create({ name: "Rex", categoryId: `${maxInt64}` });
      demand(created.kind === "data" && created.pets[0]?.categoryId === `${maxInt64}`, told(created));
      return undefined;
    }),
    await checkThat(`${name}: a query answers pets`, async () => {
      const listed = await client.list(1);
      const [pet] = listed.kind === "data" ? listed.pets : [];
      demand(pet !== undefined && /^\d+$/.test(pet.id) && pet.name !== "", told(listed));
      return undefined;
    }),
    await checkThat(`${name}: an error has its code and status`, async () => {
      const failed = await client.list(0);
      const isSeen = failed.kind === "error" && failed.code === "VALIDATION_FAILED" && failed.status === 400;
      demand(isSeen, told(failed));
      return undefined;
    }),
    await checkThat(`${name}: a refused key has its code`, async () => {
      const unauthorized = await open(url, "nonsense").list(1);
      const isSeen = unauthorized.kind === "error" && unauthorized.code === "API_KEY_INVALID";
      demand(isSeen, told(unauthorized));
      return undefined;
    }),
    await checkThat(`${name}: a 429 has its code and Retry-After`, async () => {
      const poor = await openFor(open, url, store, 1);
      let refused = await poor.list(1);
      // The first is admitted; so is the second when a minute ends between them.
      for (let call = 0; call < 3 && refused.kind === "data"; call += 1) refused = await poor.list(1);
      demand(refused.kind === "error" && Number(refused.retryAfter) > 0, told(refused));
      demand(refused.code === "RATE_LIMIT_EXCEEDED" && refused.status === 429, told(refused));
      return undefined;
    }),
  ];
}

async function openFor(open: OpenClient, url: string, store: Store, perMinute: number): Promise<GraphqlClient> {
  return open(url, await (await store.openAccount({ perMinute, perDay: 10_000 })).issueKey());
}

function told(outcome: Outcome): string {
  return `seen: ${JSON.stringify(outcome)}`;
}
