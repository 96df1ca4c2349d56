/** The OpenAPI document, asked what may be sent and what may be answered. */
import { readFile } from "node:fs/promises";
import type { HttpAnswer } from "../apis/http-exchange.js";
import { readExactJson } from "./exact-json.js";
import { type JsonSchema, misfit } from "./json-schema.js";

export interface OpenApi {
  readonly operations: readonly Operation[];
  /** Every code there is. */
  readonly codes: ReadonlySet<string>;
  /** Whether the document lets such a pet be added; the reason when it does not. */
  newPetFault(input: unknown): string | undefined;
  /** What of an answer is not as the document says, a sentence each. */
  answerFaults(method: string, path: string, answer: HttpAnswer): readonly string[];
}

export interface Operation {
  readonly method: string;
  /** `/v1/pets/{petId}` */
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly hasBody: boolean;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface DocumentedOperation {
  readonly parameters?: Operation["parameters"];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly headers: Readonly<Record<string, Header>>;
  readonly content: { readonly "application/json": { readonly schema: JsonSchema; readonly examples: object } };
}

interface Header {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

const location = new URL("../../../../services/rest/openapi.json", import.meta.url);

export async function readOpenApi(): Promise<OpenApi> {
  const document = readExactJson(await readFile(location, "utf8")) as Document;
  const component = (ref: string): unknown => {
    const [, , kind = "", name = ""] = ref.split("/");
    return document.components[kind]?.[name];
  };
  const resolve = (ref: string) => component(ref) as JsonSchema;
  const errorShape: JsonSchema = { $ref: "#/components/schemas/Error" };
  const error = resolve("#/components/schemas/Error").properties?.code?.["x-extensible-enum"];
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: `/v1${path}`,
      operation,
    })),
  );

  function documented(method: string, path: string): DocumentedOperation | undefined {
    const asked = method === "HEAD" ? "GET" : method;
    const template = path === "/v1/pets" ? path : /^\/v1\/pets\/[^/]+$/.test(path) ? "/v1/pets/{petId}" : undefined;
    return operations.find((one) => one.method === asked && one.path === template)?.operation;
  }

  function headerFaults(response: Response, { headers }: HttpAnswer): string[] {
    return Object.entries(response.headers).flatMap(([name, said]) => {
      const header = said.$ref === undefined ? said : (component(said.$ref) as Header);
      const value = headers[name.toLowerCase()];
      if (value === undefined) return header.required ? [`${name} is missing`] : [];
      const typed = header.schema?.type === "integer" && /^\d+$/.test(value) ? BigInt(value) : value;
      const fault = header.schema && misfit(typed, header.schema, resolve);
      return fault === undefined ? [] : [`${name} ${fault}`];
    });
  }

  function bodyFaults(method: string, schema: JsonSchema, codes: readonly string[], answer: HttpAnswer): string[] {
    if (method === "HEAD") return answer.text === "" ? [] : ["HEAD is answered with a body"];
    if (!/^application\/json\b/.test(answer.headers["content-type"] ?? "")) return ["the body is not JSON"];
    let body: unknown;
    try {
      body = readExactJson(answer.text);
    } catch {
      return ["the body is not well-formed JSON"];
    }
    const fault = misfit(body, schema, resolve);
    if (fault !== undefined) return [`the body ${fault}`];
    if (answer.status < 400) return [];
    const { code, status } = body as { code: string; status: bigint };
    const faults = Number(status) === answer.status ? [] : [`the body says ${status} in a ${answer.status}`];
    return codes.includes(code) ? faults : [...faults, `${code} is no code of a ${answer.status} here`];
  }

  return {
    operations: operations.map(({ method, path, operation }) => ({
      method,
      path,
      parameters: operation.parameters ?? [],
      hasBody: operation.requestBody !== undefined,
    })),
    codes: new Set(error as readonly string[]),
    newPetFault: (input) => misfit(input, { $ref: "#/components/schemas/NewPet" }, resolve),
    answerFaults(method, path, answer) {
      const operation = documented(method, path);
      const response = operation?.responses[answer.status];
      if (operation !== undefined && response === undefined) return [`${answer.status} is no status of this operation`];
      if (response !== undefined) {
        const { schema, examples } = response.content["application/json"];
        const faults = headerFaults(response, answer);
        return [...faults, ...bodyFaults(method, schema, Object.keys(examples), answer)];
      }
      // "Other methods, and paths that are not here, are answered 405 and 404"; a preflight is answered by itself.
      if (method === "OPTIONS" && answer.status === 204) return answer.text === "" ? [] : ["a preflight has a body"];
      const codes = elsewhere[answer.status];
      if (codes === undefined) return [`${answer.status} where the document has no operation`];
      return bodyFaults(method, errorShape, codes, answer);
    },
  };
}

const elsewhere: Readonly<Record<number, readonly string[]>> = {
  400: ["MALFORMED_REQUEST"],
  401: ["API_KEY_MISSING", "API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_REVOKED"],
  404: ["ROUTE_NOT_FOUND"],
  405: ["METHOD_NOT_ALLOWED"],
  429: ["RATE_LIMIT_EXCEEDED", "DAILY_QUOTA_EXCEEDED", "API_KEY_BANNED"],
  431: ["HEADERS_TOO_LARGE"],
};
