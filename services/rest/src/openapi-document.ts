/** The OpenAPI 3.1 document of the REST API: openapi.source.yaml, and what the code knows. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import {
  type HttpConfig,
  isLoopback,
  type JsonSchema,
  limitsOf,
  type Plan,
  type ProblemCode,
  petJsonSchemas,
  planNames,
  problems,
} from "@petstore/core";
import { stringify as stringifyJson } from "lossless-json";
import { Document, parse as parseYaml, visit } from "yaml";

/** The addresses of the production and staging environments, for `servers`. */
export type Environments = Pick<HttpConfig, "publicUrl" | "stagingUrl">;

/** The parts of the document that the reference page shows. Its integers are bigint. */
export interface OpenApiDocument {
  readonly servers: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    /** Error responses of several operations, by status. In the files, the operations refer to them. */
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly headers: Readonly<Record<string, { readonly description: string; readonly example: unknown }>>;
    readonly examples: Readonly<Record<string, { readonly value: { readonly message: string } }>>;
  };
}

/** In place of response headers and error responses, the source has names in `components.headers`, and error codes. */
interface Shorthand {
  readonly "x-headers"?: readonly string[];
  readonly "x-codes"?: readonly ProblemCode[];
}

export interface OpenApiOperation extends Shorthand {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiResponse>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface OpenApiResponse extends Shorthand {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: Content;
}

interface Content {
  readonly "application/json": {
    readonly schema: JsonSchema;
    readonly examples: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
  };
}

/** Codes that REST never returns: a REST request has no GraphQL document, and its cost of 1 is never above a limit. */
const graphqlOnlyCodes = [
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_TOO_LARGE",
  "PERSISTED_QUERY_NOT_FOUND",
];
const restCodes = (Object.keys(problems) as ProblemCode[]).filter((code) => !graphqlOnlyCodes.includes(code));
/** Malformed HTTP requests are answered before routing, so their responses have no headers of a route. */
const statusesBeforeRouting: readonly number[] = [400, 408, 431];

export function openApiDocument(environments: Environments): OpenApiDocument {
  const source = parseYaml(readSource(), { intAsBigInt: true }) as OpenApiDocument & Shorthand;
  const { "x-headers": headers = [], "x-codes": codes = [], ...description } = source;
  const { paths, components } = description;
  const usedCodes = new Set(codes);
  const completePaths = mapValues(paths, (operations) =>
    mapValues(operations, ({ "x-headers": routeHeaders = [], "x-codes": ownCodes = [], ...operation }) => {
      for (const code of ownCodes) usedCodes.add(code);
      const errors = errorResponses([...codes, ...ownCodes], headers, routeHeaders);
      const successes = mapValues(operation.responses, ({ "x-headers": ownHeaders = [], description, content }) => ({
        description,
        headers: references([...headers, ...ownHeaders, ...routeHeaders]),
        content,
      }));
      const parameters = operation.parameters.map(completeParameter);
      return { ...operation, parameters, responses: { ...successes, ...errors } };
    }),
  );
  const examples = restCodes
    .filter((code) => usedCodes.has(code))
    .map((code) => {
      const { status, meaning: message } = problems[code];
      return [code, { value: { code, message, status } }];
    });
  return {
    ...description,
    servers: servers(environments),
    paths: completePaths,
    components: {
      ...components,
      schemas: { ...petJsonSchemas().named, ...components.schemas },
      responses: errorResponses(codes, headers, []),
      examples: Object.fromEntries(examples),
    },
  };
}

/** The text of the source, with the plans and the codes in place of the names in braces. */
function readSource(): string {
  const planRows = planNames.map(describePlan).map((plan) => `| ${Object.values(plan).join(" | ")} |`);
  const codeRows = restCodes.map((code) => `| ${problems[code].status} | \`${code}\` | ${problems[code].meaning} |`);
  return readFileSync(new URL("../openapi.source.yaml", import.meta.url), "utf8")
    .replace("{plans}", planRows.join("\n    "))
    .replace("{codes}", codeRows.join("\n    "))
    .replace("{code names}", restCodes.join(", "));
}

/** Both formats keep all digits of the bigint values. */
export function openApiJson(document: OpenApiDocument): string {
  return `${stringifyJson(withReferences(document), undefined, 2)}\n`;
}

export function openApiYaml(document: OpenApiDocument): string {
  const yaml = new Document(withReferences(document), { aliasDuplicateObjects: false });
  visit(yaml, {
    Map(_key, map) {
      // On one line, so that the file is shorter to review.
      if (map.has("$ref")) map.flow = true;
    },
  });
  return yaml.toString({ blockQuote: "literal", lineWidth: 120 });
}

/** Replaces each response that `components.responses` has too by a reference. */
function withReferences({ paths, components, ...document }: OpenApiDocument): object {
  const replace = (response: OpenApiResponse, status: string) =>
    isDeepStrictEqual(response, components.responses[status]) ? { $ref: `#/components/responses/${status}` } : response;
  const shortPaths = mapValues(paths, (operations) =>
    mapValues(operations, (operation) => ({ ...operation, responses: mapValues(operation.responses, replace) })),
  );
  return { ...document, paths: shortPaths, components };
}

function servers({ publicUrl, stagingUrl }: Environments): JsonSchema[] {
  const staging = { url: `${stagingUrl}/v1`, description: "Staging" };
  // On the staging environment both addresses are the same, and it must not be called production.
  if (stagingUrl !== undefined && stagingUrl === publicUrl) return [staging];
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  const production = { url: `${publicUrl ?? ""}/v1`, description: isPublic ? "Production" : "This service" };
  return stagingUrl === undefined ? [production] : [production, staging];
}

/** Adds the description and the schema of a list parameter, which core knows. */
function completeParameter(parameter: OpenApiParameter): OpenApiParameter {
  const known = petJsonSchemas().listParameters[parameter.name];
  if (known === undefined) return parameter;
  const { description, ...schema } = known;
  return { ...parameter, description: String(description), schema };
}

function errorResponses(
  codes: readonly ProblemCode[],
  headers: readonly string[],
  routeHeaders: readonly string[],
): Record<string, OpenApiResponse> {
  const responses: Record<string, OpenApiResponse> = {};
  for (const { status } of codes.map((code) => problems[code])) {
    const same = restCodes.filter((code) => codes.includes(code) && problems[code].status === status);
    const ownHeaders = statusesBeforeRouting.includes(status) ? [] : routeHeaders;
    const link = ownHeaders.includes("DeprecationLink") ? "DeprecationErrorLink" : "ErrorLink";
    responses[status] = {
      description: same.map((code) => `\`${code}\`: ${problems[code].meaning}`).join("\n\n"),
      headers: references([...headers, ...headersOfStatus(status), ...ownHeaders, link]),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: Object.fromEntries(same.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
  }
  return responses;
}

function headersOfStatus(status: number): readonly string[] {
  if (status === 401) return ["WWW-Authenticate"];
  if (status === 403) return ["ScopeChallenge"];
  return [409, 429, 503].includes(status) ? ["Retry-After"] : [];
}

/** Headers with a different definition in some responses. The last definition in the list of a response is used. */
const secondDefinitions: Readonly<Record<string, string>> = {
  DeprecationLink: "Link",
  ErrorLink: "Link",
  DeprecationErrorLink: "Link",
  ScopeChallenge: "WWW-Authenticate",
};

function references(headers: readonly string[]): Record<string, { $ref: string }> {
  const fields = headers.map((name) => [secondDefinitions[name] ?? name, name]);
  return Object.fromEntries(fields.map(([field, name]) => [field, { $ref: `#/components/headers/${name}` }]));
}

/** The name and the limits of a plan, for people. */
export function describePlan(plan: Plan): {
  readonly name: string;
  readonly perMinute: string;
  readonly perDay: string;
} {
  const name = `${plan.charAt(0).toUpperCase()}${plan.slice(1)}`;
  if (plan === "enterprise") return { name, perMinute: "as agreed", perDay: "as agreed" };
  const { perMinute, perDay } = limitsOf({ plan });
  return { name, perMinute: perMinute.toLocaleString("en"), perDay: perDay.toLocaleString("en") };
}

function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V, name: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
