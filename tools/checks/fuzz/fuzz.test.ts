// @module-tag redis-server
import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Figures } from "@petstore/harness/test-with-figures";
import { buildSchema } from "graphql";
import { expect, inject } from "vitest";
import type { ApiName } from "../conformance/apis/response-faults.js";
import { graphqlRequests } from "./arbitraries/graphql-requests.js";
import { operation } from "./arbitraries/operations.js";
import { restRequests } from "./arbitraries/rest-requests.js";
import { checkParity, checkRequest, listAll, lostPets } from "./properties.js";
import { checkRandomly } from "./runs.js";
import { it as base, openSession, type Session } from "./session.js";

const { requests = "20000", seed = `${randomInt(1_000_000_000)}` } = inject("projectOptions") ?? {};
/** Half of the requests to an API are its own, half are for parity. */
const runs = Math.ceil(Number(requests) / 2);
const drawn = { runs, seed: Number(seed) };

const it = base.extend<{ session: Session }>({
  session: async ({ services }, use) => {
    using session = await openSession(services);
    await use(session);
  },
});

it("REST: every response is as the OpenAPI document says", async ({ session, figures }) => {
  const values = restRequests(session.document);
  await checkRandomly(values, (request) => checkRequest(session, "rest", request), { name: "REST", ...drawn });
  countRequests(session, figures, "rest", 20);
  await expectEveryPet(session);
});

it("GraphQL: every response is as GraphQL over HTTP says", async ({ session, figures }) => {
  const file = new URL("../../../services/graphql/schema.graphql", import.meta.url);
  const values = graphqlRequests(buildSchema(await readFile(file, "utf8")));
  await checkRandomly(values, (request) => checkRequest(session, "graphql", request), { name: "GraphQL", ...drawn });
  countRequests(session, figures, "graphql", 20);
});

it("parity: both APIs give the same answer to the same input", async ({ session, figures }) => {
  await checkRandomly(operation, (one) => checkParity(session, one), { name: "parity", ...drawn });
  countRequests(session, figures, "rest", 2);
  countRequests(session, figures, "graphql", 2);
  figures.atLeast(Math.floor(runs / 10), "acknowledged pets", session.pets.size);
  await expectEveryPet(session);
});

function countRequests({ sent, answers }: Session, figures: Figures, api: ApiName, fewestAnswers: number): void {
  figures.atLeast(runs, `requests to ${api} with the seed ${seed}`, sent[api]);
  figures.atLeast(runs < 2_000 ? 1 : fewestAnswers, `different statuses and codes of ${api}`, answers[api].size);
}

/** Both APIs list every acknowledged pet with all digits. */
async function expectEveryPet(session: Session): Promise<void> {
  for (const api of ["rest", "graphql"] as const) expect(lostPets(session, await listAll(session, api))).toEqual([]);
}
