// Compares openapi.yaml with the code: a failed test prints what the document must say. openapi-schemas.test.ts compares its
// schemas, and tools/checks/openapi its headers.
import { readFileSync } from "node:fs";
import { limitsOf, type ProblemCode, planNames, problems } from "@petstore/core";
import { type OpenApi, resolveResponses } from "@petstore/harness/responses";
import { describePlan } from "@petstore/pages";
import { expect, it } from "vitest";
import { parse } from "yaml";

const document = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
const { info, paths, components } = resolveResponses(parse(document));
const operations = Object.values(paths as OpenApi["paths"])
  .flatMap((path) => Object.values(path))
  .map(({ operationId, responses }) => [operationId, responses] as const);

/** A REST request has no GraphQL document, and its cost of 1 is never above a limit. */
const graphqlOnly = /^(GRAPHQL_|OPERATION_TOO_LARGE|PERSISTED_QUERY_NOT_FOUND)/;
const codes = (Object.keys(problems) as ProblemCode[]).filter((code) => !graphqlOnly.test(code));
/** Codes that not every operation returns, and the operations that do. */
const operationsOfCode: Partial<Record<ProblemCode, readonly string[]>> = {
  INVALID_JSON: ["createPet"],
  VALIDATION_FAILED: ["listPets", "createPet"],
  INVALID_CURSOR: ["listPets"],
  PET_NOT_FOUND: ["getPet"],
  ROUTE_NOT_FOUND: ["getPet"],
  METHOD_NOT_ALLOWED: [],
  IDEMPOTENCY_IN_PROGRESS: ["createPet"],
  ENDPOINT_REMOVED: ["getPet"],
  INSUFFICIENT_SCOPE: ["listPets", "createPet", "getPet"],
  API_KEY_BANNED: ["listPets", "createPet", "getPet"],
  PAYLOAD_TOO_LARGE: ["createPet"],
  UNSUPPORTED_MEDIA_TYPE: ["createPet"],
  IDEMPOTENCY_KEY_REUSED: ["createPet"],
};

/** What a code means in an operation that has another cause of it than its meaning says. */
const ownMeanings: Partial<Record<string, Partial<Record<ProblemCode, string>>>> = {
  getRateLimit: {
    RATE_LIMIT_EXCEEDED:
      "The key has already read its rate limit 200 times in this second, or the quota of this minute has too few units left for a request without a valid key; the Retry-After header says how many seconds to wait.",
  },
  getUsageHistory: {
    RATE_LIMIT_EXCEEDED:
      "The key has already read the usage history in this second, or the quota of this minute has too few units left for a request without a valid key; the Retry-After header says how many seconds to wait.",
  },
};

it("info.description has a table of the plans with the values of core", () => {
  const table: string | undefined = info.description.match(/^\| plan (\|.*\n)+/m)?.[0];
  const plans = planNames.map((plan) => ({ plan, limits: plan === "enterprise" ? undefined : limitsOf({ plan }) }));
  const rows = plans.map((plan) => `| ${describePlan(plan).join(" | ")} |`);
  expect(table?.trim().split("\n").slice(2)).toEqual(rows);
});

it("components.schemas.Error lists every code of the REST API, and no other", () => {
  expect(components.schemas.Error.properties.code["x-extensible-enum"]).toEqual(codes);
});

it("components.examples has the body of each error that an operation returns", () => {
  const returned = codes.filter((code) => operationsOfCode[code]?.length !== 0);
  expect(Object.keys(components.examples)).toEqual(returned);
  for (const code of returned) {
    const { status, meaning: message } = problems[code];
    expect(components.examples[code]).toEqual({ value: { code, message, status } });
  }
});

it("info.description names each path that is not below /v1", () => {
  const outside = Object.entries(paths as OpenApi["paths"]).filter(([, { get }]) => get && "servers" in get);
  expect(outside.map(([path]) => path)).toEqual(["/rate_limit", "/usage/history"]);
  const [, addresses] = info.description.split("## Addresses");
  for (const [path] of outside) expect(addresses).toContain(`\`${path}\``);
});

it.each(operations)("%s has exactly its codes, with their meanings", (operationId, responses) => {
  const returned = codes.filter((code) => operationsOfCode[code]?.includes(operationId) ?? true);
  const statuses = [...new Set(returned.map((code) => `${problems[code].status}`))].sort();
  expect(Object.keys(responses).filter((status) => Number(status) >= 400)).toEqual(statuses);
  for (const status of statuses) {
    const codesOfStatus = returned.filter((code) => `${problems[code].status}` === status);
    const examples = codesOfStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
    const { headers: _headers, ...response } = responses[status] ?? {};
    expect(response, status).toEqual({
      description: codesOfStatus
        .map((code) => `\`${code}\`: ${ownMeanings[operationId]?.[code] ?? problems[code].meaning}`)
        .join("\n\n"),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: Object.fromEntries(examples),
        },
      },
    });
  }
});
