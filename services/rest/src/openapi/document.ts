/** The OpenAPI 3.1 document of the REST API, built from the schemas, error codes and dates that the service itself uses. */
import {
  type HttpConfig,
  type JsonSchema,
  limitsOf,
  type Plan,
  petJsonSchemas,
  planNames,
  problems,
} from "@petstore/core";
import { stringify as stringifyJson } from "lossless-json";
import { stringify as stringifyYaml } from "yaml";
import { headers } from "./headers.js";
import { type Operation, operations } from "./operations.js";
import { errorResponses, responsesOf, restCodes } from "./responses.js";

/** The addresses of the production and staging environments, for `servers`. */
export type Environments = Pick<HttpConfig, "publicUrl" | "stagingUrl">;

/** The document contains bigint values. `openApiJson` and `openApiYaml` write all of their digits. */
export function openApiDocument(environments: Environments): JsonSchema {
  const usedCodes = restCodes.filter((code) =>
    operations.some((operation) => errorResponses(operation).some(({ codes }) => codes.includes(code))),
  );
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet store",
      version: "1.0.0",
      summary: "The catalogue of a pet store.",
      description: introduction(),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: servers(environments),
    tags: [{ name: "pets", description: "The pets of the store." }],
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "Your API key: `Authorization: Bearer pets_live_...`" },
      },
      schemas: { ...petJsonSchemas().named, Error: errorSchema },
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, { description, schema, example, isOptional }]) => [
          name,
          { description, schema, example, required: !isOptional },
        ]),
      ),
      examples: Object.fromEntries(usedCodes.map((code) => [code, { value: exampleOf(code) }])),
    },
  };
}

/** JSON with all digits of the bigint values. */
export function openApiJson(document: JsonSchema): string {
  return `${stringifyJson(document, undefined, 2)}\n`;
}

/** YAML with all digits of the bigint values. */
export function openApiYaml(document: JsonSchema): string {
  return stringifyYaml(document, { aliasDuplicateObjects: false, blockQuote: "literal", lineWidth: 120 });
}

/** The codes are not an `enum`, because a client generated from it would fail when a code is added. */
const errorSchema: JsonSchema = {
  type: "object",
  description: "The body of every error response.",
  properties: {
    code: {
      type: "string",
      description: "The machine-readable error code. Use it to handle the error. New codes may be added.",
      "x-extensible-enum": restCodes,
    },
    message: { type: "string", description: "A text for people. It may change." },
    status: { type: "integer", minimum: 400, maximum: 599, description: "The HTTP status code of the response." },
  },
  required: ["code", "message", "status"],
};

function exampleOf(code: (typeof restCodes)[number]): JsonSchema {
  const { status, meaning } = problems[code];
  return { code, message: meaning, status };
}

function servers({ publicUrl, stagingUrl }: Environments): JsonSchema[] {
  const production =
    publicUrl === undefined ? { url: "/v1", description: "This service" } : environment(publicUrl, "Production");
  if (stagingUrl === undefined) return [production];
  // On the staging environment both addresses are the same, and it must not be called production.
  const staging = environment(stagingUrl, "Staging");
  return stagingUrl === publicUrl ? [staging] : [production, staging];
}

function environment(origin: string, description: string): JsonSchema {
  return { url: `${origin}/v1`, description };
}

function paths(): JsonSchema {
  const pathItems: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) {
    pathItems[operation.path] = { ...pathItems[operation.path], [operation.method]: operationObject(operation) };
  }
  return pathItems;
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
        description: "JSON in UTF-8, at most 64 KiB. Other properties than the listed ones are an error.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/NewPet" }, examples: bodies } },
      },
    }),
    responses: responsesOf(operation),
  };
}

function introduction(): string {
  const codes = restCodes.map((code) => `| ${problems[code].status} | \`${code}\` | ${problems[code].meaning} |`);
  return `List pets, add a pet, or get a pet by its identifier. Every request needs an API key as a bearer token.

## Limits

Requests are counted per account, in each UTC minute and each UTC day.

| plan | a minute | a day |
|---|---|---|
${planNames.map(planRow).join("\n")}

The headers of every response show how many requests remain. A request above a limit gets a 429 response and is not counted. \`Retry-After\` tells how many seconds to wait. A key is banned for some time if its requests go on before that.

## Integers

\`id\` and \`categoryId\` are 64-bit integers. They are JSON numbers with all their digits. Use a JSON parser that does not round integers above 2^53. In JavaScript, \`JSON.parse\` does round them.

## Errors

Every error has the same body. HEAD is allowed wherever GET is. Other methods get a 405 response, and unknown paths get a 404 response.

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
