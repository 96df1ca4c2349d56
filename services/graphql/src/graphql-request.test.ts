import { Problem, type Ticket } from "@petstore/core";
import type { AccountTurns, HttpRequest } from "@petstore/http";
import { expect, it } from "vitest";
import { readGraphqlRequest } from "./graphql-request.js";

const busyTurns: AccountTurns = {
  run() {
    throw new Problem("SERVICE_UNAVAILABLE");
  },
};
const ticket = { caller: { accountId: 1n } } as Ticket;

it.each([
  { method: "GET", url: "/graphql", query: { query: "{ pets { id } }", variables: "{" } },
  { method: "GET", url: "/graphql", query: { query: "{ pets { id } }", extensions: "{" } },
  { method: "POST", isComplete: true, readBody: async () => Buffer.from("{") },
])("parses no JSON before the turn of the account: %j", async (request) => {
  const reading = readGraphqlRequest(request as unknown as HttpRequest, ticket, busyTurns);
  await expect(reading).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});
