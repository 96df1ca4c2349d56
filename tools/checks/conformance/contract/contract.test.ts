// The contract table: each row is sent through REST, both variants of GraphQL and the typed client.
import { shared } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { createResponseCheck, type OpenApi } from "@petstore/harness/responses";
import { describe, expect, it } from "vitest";
import type { Api, Operation, Pet, Reply, Send, Success } from "../apis/api.js";
import { createClientApi } from "../apis/client-api.js";
import { comparableHeaders } from "../apis/comparable-headers.js";
import { createGraphqlApi } from "../apis/graphql-api.js";
import { type ApiName, createResponseFaults } from "../apis/response-faults.js";
import { createRestApi } from "../apis/rest-api.js";
import { newAddress, openRunningStore, withinOneMinute } from "../running-store.js";
import type { Catalogue, Request, Row } from "./row.js";
import { brownoutSettings } from "./rows/brownouts.js";
import { quotaSettings } from "./rows/quotas.js";
import { subjects } from "./subjects.js";

const store = await shared(openRunningStore({ environment: quotaSettings }));
const storeInBrownout = await shared(openRunningStore({ environment: { ...quotaSettings, ...brownoutSettings } }));
const document = (await (await fetch(`${store.originOf("rest")}/openapi.json`)).json()) as OpenApi;
const faultsOf = createResponseFaults(createResponseCheck(document), []);
const apis = apisOf(store);
const apisInBrownout = apisOf(storeInBrownout);
const readerKey = await store.issueKey("valid");
const catalogue = await fillCatalogue();
/** The responses that were compared with those of REST. */
const compared = new Map<string, number>();

describe.each(Object.entries(subjects))("%s", (_subject, rows) => {
  for (const row of rows) it(row.title, () => withinOneMinute(() => sendThroughAll(row)));
});

it("every interface has sent a large part of the table", () => {
  for (const [name, fewest] of [
    ["GraphQL", 250],
    ["GraphQL connection", 100],
    ["client", 40],
  ] as const) {
    expect(compared.get(name), name).toBeGreaterThan(fewest);
  }
});

/** Every interface of a store, REST first. */
function apisOf({ originOf }: Pick<typeof store, "originOf">) {
  const [rest, graphql] = [sendTo("rest", originOf("rest")), sendTo("graphql", originOf("graphql"))];
  return [
    createRestApi(rest),
    createGraphqlApi(graphql, "pets"),
    createGraphqlApi(graphql, "petsConnection"),
    createClientApi(rest),
  ] as const;
}

/** Rejects if the response has a fault. */
function sendTo(api: ApiName, origin: string): Send {
  const { send } = openHttpClient(origin);
  return async (method, path, options) => {
    const answer = await send(method, path, options);
    expect(faultsOf(api, method, path, answer), `${method} ${path}`).toEqual([]);
    return answer;
  };
}

async function sendThroughAll(row: Row): Promise<void> {
  const { key: kind = "valid", limits, isInBrownout = false } = row;
  const { issueKey } = isInBrownout ? storeInBrownout : store;
  let reference: Reply | undefined;
  for (const api of isInBrownout ? apisInBrownout : apis) {
    const key = kind === "none" ? undefined : await issueKey(kind, limits);
    const address = newAddress();
    const send = (request: Request): Promise<Reply | undefined> => {
      const operation = request.operation(catalogue);
      const authorization = request.authorization?.(key ?? "") ?? (key === undefined ? [] : [`Bearer ${key}`]);
      return api.send({ ...request, operation, authorization, address });
    };
    const before = [];
    for (const request of row.before ?? []) before.push(await send(request));
    const reply = before.includes(undefined) ? undefined : await send(row.send);
    if (reply === undefined) continue;
    await expectReply(row, api, reply);
    reference ??= reply;
    compared.set(api.name, (compared.get(api.name) ?? 0) + 1);
    expect(comparableHeaders(reply.headers), `${api.name}, headers`).toEqual(comparableHeaders(reference.headers));
    if (kind === "valid" && reply.outcome.kind === "success" && limits === undefined) {
      expect(reply.headers["x-ratelimit-remaining"]).toBe(`${1_000_000 - 1 - before.length}`);
    }
  }
  expect(reference).toBeDefined();
}

async function expectReply({ expected: common, graphql }: Row, { name }: Api, reply: Reply): Promise<void> {
  const { headers: expectedHeaders = {}, ...expected } = (name.startsWith("GraphQL") ? graphql : undefined) ?? common;
  const { outcome } = reply;
  const headers = comparableHeaders(reply.headers);
  expect(headers["x-ratelimit-reset"]).toMatch(/^end of the (minute|day)$/);
  for (const [header, value] of Object.entries(expectedHeaders)) {
    expect(headers[header] ?? "", `${name}, ${header}`).toBe(value);
  }
  const help = outcome.kind === "failure" ? `</docs/errors#${outcome.code}>; rel="help"` : undefined;
  expect(reply.headers.link?.split(", ").find((link) => link.endsWith('rel="help"'))).toBe(help);
  if (expected.kind === "failure") return expect(outcome, name).toEqual(expected);
  if (outcome.kind === "failure") throw new Error(`${name}: ${outcome.status} ${outcome.code} ${outcome.message}`);
  const { pets } = outcome;
  if (expected.pets !== undefined) expect(pets, name).toEqual(expected.pets(catalogue));
  if (expected.created === undefined) return;
  const [pet] = pets;
  expect(pet, name).toEqual({ id: expect.stringMatching(/^[1-9]\d*$/), ...expected.created });
  expect(await askRest({ kind: "get", id: pet?.id ?? "" }), `${name}, stored`).toMatchObject({ pets });
}

async function askRest(operation: Operation): Promise<Success> {
  const reply = await apis[0].send({ operation, authorization: [`Bearer ${readerKey}`], address: newAddress() });
  if (reply?.outcome.kind !== "success") throw new Error(`REST refused ${JSON.stringify(operation)}`);
  return reply.outcome;
}

/** Thirty pets: more than a default page, and several pages of each status. */
async function fillCatalogue(): Promise<Catalogue> {
  const pets: Pet[] = [];
  for (let index = 0; index < 30; index += 1) {
    const categoryId = 9_007_199_254_740_990n + BigInt(index);
    const status = ["available", "available", "pending", "sold"][index % 4];
    const input = `{"name":"pet ${index} \u00e9","categoryId":${categoryId},"status":"${status}"}`;
    pets.push(...(await askRest({ kind: "create", input })).pets);
  }
  const { nextCursor } = await askRest({ kind: "list", query: { limit: "3" } });
  const pending = await askRest({ kind: "list", query: { limit: "3", status: '"pending"' } });
  return { pets, cursor: nextCursor ?? "", pendingCursor: pending.nextCursor ?? "" };
}
