/** The OpenAPI 3.1 document of the REST door, drawn from what validates, answers and deprecates. */
import {
  type HttpConfig,
  type JsonSchema,
  limitsOf,
  type Plan,
  petJsonSchemas,
  planNames,
  problems,
} from "@petstore/core";
import { headers } from "./headers.js";
import { type Operation, operations } from "./operations.js";
import { errorResponses, responsesOf, restCodes } from "./responses.js";

/** Where clients reach the two environments; what is not configured is not named. */
export type Environments = Pick<HttpConfig, "publicUrl" | "stagingUrl">;

/** Its integers may be bigint, which `openApiJson` and `openApiYaml` write digit for digit. */
export function openApiDocument(environments: Environments): JsonSchema {
  const usedCodes = restCodes.filter((code) =>
    operations.some((operation) => errorResponses(operation).some(({ codes }) => codes.includes(code))),
  );
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet store",
      version: "1.0.0",
      summary: "A catalogue of animals offered in a store.",
      description: introduction(),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: servers(environments),
    tags: [{ name: "pets", description: "The animals of the store." }],
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "Your API key: `Authorization: Bearer pets_live_...`" },
      },
      schemas: { ...petJsonSchemas().named, Error: errorSchema },
      headers: Object.fromEntries(Object.entries(headers).map(([name, { field: _, ...header }]) => [name, header])),
      examples: Object.fromEntries(usedCodes.map((code) => [code, { value: exampleOf(code) }])),
    },
  };
}

/** The contract's Error shape. A list of codes that may grow is no enum: a client generated from one breaks on the next. */
const errorSchema: JsonSchema = {
  type: "object",
  description: "What every error answers.",
  properties: {
    code: {
      type: "string",
      description: "Machine-readable; decide by it. Codes may be added.",
      "x-extensible-enum": restCodes,
    },
    message: { type: "string", description: "For people; may change." },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status code of the response." },
  },
  required: ["code", "message", "status"],
};

function exampleOf(code: (typeof restCodes)[number]): JsonSchema {
  const { status, meaning } = problems[code];
  return { code, message: meaning, status };
}

function servers({ publicUrl, stagingUrl }: Environments): JsonSchema[] {
  const own =
    publicUrl === undefined ? { url: "/v1", description: "This service" } : environment(publicUrl, "Production");
  if (stagingUrl === undefined) return [own];
  // The staging environment publishes its own document, which must not call it production.
  const staging = environment(stagingUrl, "Staging");
  return stagingUrl === publicUrl ? [staging] : [own, staging];
}

function environment(origin: string, description: string): JsonSchema {
  return { url: `${origin}/v1`, description };
}

function paths(): JsonSchema {
  const described: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) {
    described[operation.path] = { ...described[operation.path], [operation.method]: operationObject(operation) };
  }
  return described;
}

function operationObject(operation: Operation): JsonSchema {
  const { id, summary, description, isDeprecated, parameters, bodies } = operation;
  return {
    operationId: id,
    summary,
    description,
    tags: ["pets"],
    ...(isDeprecated && { deprecated: true, "x-sunset": "2030-12-05" }),
    parameters,
    ...(bodies && {
      requestBody: {
        required: true,
        description: "At most 64 KiB of JSON in UTF-8; a property that is not listed is an error.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/NewPet" }, examples: bodies } },
      },
    }),
    responses: responsesOf(operation),
  };
}

function introduction(): string {
  const codes = restCodes.map((code) => `| ${problems[code].status} | \`${code}\` | ${problems[code].meaning} |`);
  return `List animals, add one, get one by its identifier. Every call needs an API key as a bearer token.

## Limits

Requests are counted for each account, in UTC minutes and UTC days.

| plan | a minute | a day |
|---|---|---|
${planNames.map(planRow).join("\n")}

Every answer says what is left. A request over a limit is answered 429 and costs nothing; \`Retry-After\` says when to return. A key that goes on calling instead is banned for a while.

## Integers

\`id\` and \`categoryId\` are 64-bit integers and are sent as JSON numbers with all their digits. Read them without rounding where they may exceed 2^53: in JavaScript \`JSON.parse\` rounds.

## Errors

Every error has the same body. Every GET can be asked as HEAD; other methods, and paths that are not here, are answered 405 and 404.

| status | code | meaning |
|---|---|---|
${codes.join("\n")}
`;
}

function planRow(plan: Plan): string {
  const name = `${plan.charAt(0).toUpperCase()}${plan.slice(1)}`;
  if (plan === "enterprise") return `| ${name} | as agreed | as agreed |`;
  const { perMinute, perDay } = limitsOf({ plan });
  return `| ${name} | ${perMinute.toLocaleString("en")} | ${perDay.toLocaleString("en")} |`;
}
