import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import type fc from "fast-check";
import { buildSchema } from "graphql";
import { expect, inject } from "vitest";
import { graphqlRequests } from "./arbitraries/graphql-requests.js";
import { operation } from "./arbitraries/operations.js";
import { restRequests } from "./arbitraries/rest-requests.js";
import { checkParity, checkRequest, listAll, lostPets } from "./properties.js";
import { describeFailure, findFailure } from "./runs.js";
import { it as base, openSession, type Session } from "./session.js";

const { requests = "20000", seed = `${randomInt(1_000_000_000)}`, path } = inject("projectOptions") ?? {};
/** Half of the requests to an API are its own, half are for parity. */
const runs = Math.ceil(Number(requests) / 2);

const it = base.extend<{ $file: { session: Session } }>({
  session: [
    async ({ services }, use) => {
      using session = await openSession(services);
      await use(session);
    },
    { scope: "file" },
  ],
});
const options = { tags: ["redis-server"] };

it("REST: every response is as the OpenAPI document says", options, async ({ session }) => {
  await expectNoFailure("REST", restRequests(session.document), (request) => checkRequest(session, "rest", request));
});

it("GraphQL: every response is as GraphQL over HTTP says", options, async ({ session }) => {
  const file = new URL("../../../services/graphql/schema.graphql", import.meta.url);
  const requests = graphqlRequests(buildSchema(await readFile(file, "utf8")));
  await expectNoFailure("GraphQL", requests, (request) => checkRequest(session, "graphql", request));
});

it("parity: both APIs give the same answer to the same input", options, async ({ session }) => {
  await expectNoFailure("parity", operation, (given) => checkParity(session, given));
});

it("lists: both APIs show every acknowledged pet with all digits", options, async ({ session, services, figures }) => {
  if (path !== undefined) return;
  for (const api of ["rest", "graphql"] as const) {
    figures.atLeast(2 * runs, `requests to ${api} with the seed ${seed}`, session.sent[api]);
    figures.atLeast(runs < 2_000 ? 1 : 20, `different statuses and codes of ${api}`, session.answers[api].size);
    expect(lostPets(session, await listAll(session, api))).toEqual([]);
    expect(services.store.services.map((service) => service.hasEnded())).toEqual([false, false]);
  }
  figures.atLeast(Math.floor(runs / 10), "acknowledged pets", session.pets.size);
});

async function expectNoFailure<T>(name: string, values: fc.Arbitrary<T>, check: (value: T) => Promise<void>) {
  const failure = await findFailure(values, check, { runs, seed: Number(seed), path });
  if (failure !== undefined) expect.fail(describeFailure(name, failure));
}
