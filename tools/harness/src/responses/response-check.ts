/**
 * Compares an answer with the OpenAPI document of its service. Anything that the document does not mention is a
 * violation too: an unknown status, an unlisted code, a header or a property.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { type Answer, parseJson } from "../network/answer.js";

interface ResponseObject {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  /** Absent in a response without a body. */
  readonly content?: { readonly "application/json": { readonly schema: object; readonly examples: object } };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Present if the operation is outside the base path of the document. */
  readonly servers?: Servers;
}

type Servers = readonly { readonly url: string }[];

/** `resolveResponses` puts the responses of the components in the places that refer to them. */
export interface OpenApi {
  readonly servers: Servers;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
    readonly headers: Readonly<Record<string, { readonly required: boolean; readonly schema: { type?: string } }>>;
  };
}

export interface ResponseCheck {
  /** Every documented answer: an operation, a status and, for an error, one of its codes. */
  readonly documented: readonly Documented[];
  /** The name of the operation; `undefined` for an undocumented method or path. */
  operationOf(method: string, path: string): string | undefined;
  /** The violations of an answer of this operation. */
  violations(operationId: string, answer: Answer): string[];
  /** The violations of a value, by the name of its schema in the document, such as `NewPet`. */
  valueFaults(schema: string, value: unknown): string[];
}

export interface Documented {
  readonly operationId: string;
  readonly status: number;
  /** Absent for a success. */
  readonly code: string | undefined;
}

/** Headers of HTTP and CORS, which the document does not list. */
const headersOfHttp = /^(date|connection|keep-alive|content-(length|type)|x-content-type-options|access-control-.*)$/;

export function createResponseCheck(written: OpenApi): ResponseCheck {
  const document = resolveResponses(written);
  // The schemas allow more properties, for clients. This check does not.
  for (const schema of Object.values(document.components.schemas)) {
    if ("properties" in schema) Object.assign(schema, { additionalProperties: false });
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "api");
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses, servers = document.servers }]) => ({
      operationId,
      responses,
      method: method.toUpperCase(),
      paths: new RegExp(`^${basePathOf(servers)}${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      /** The JSON pointer of the responses. */
      pointer: `api#/paths/${escaped(path)}/${method}/responses`,
    })),
  );

  function faultsOf(pointer: string, value: unknown): string[] {
    const validate = ajv.getSchema(pointer);
    if (validate === undefined) return [`${pointer} is no schema`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  function headerFaults({ headers }: ResponseObject, answer: Answer): string[] {
    const faults = Object.entries(headers).flatMap(([name, { $ref }]) => {
      const key = $ref.replace("#/components/headers/", "");
      const described = document.components.headers[key];
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined) return described?.required === false ? [] : [`${name} is missing`];
      const read = described?.schema.type === "integer" && /^\d+$/.test(value) ? Number(value) : value;
      return faultsOf(`api#/components/headers/${escaped(key)}/schema`, read).map((fault) => `${name}${fault}`);
    });
    const known = Object.keys(headers).map((name) => name.toLowerCase());
    const unknown = Object.keys(answer.headers).filter((name) => !known.includes(name) && !headersOfHttp.test(name));
    return [...faults, ...unknown.map((name) => `${name} is not described`)];
  }

  return {
    documented: operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        codesOf(status, response).map((code) => ({ operationId, status: Number(status), code })),
      ),
    ),
    operationOf(method, path) {
      const [pathname = ""] = path.split("?");
      return operations.find((one) => one.method === method && one.paths.test(pathname))?.operationId;
    },
    violations(operationId, answer) {
      const operation = operations.find((one) => one.operationId === operationId);
      const response = operation?.responses[answer.status];
      if (operation === undefined || response === undefined)
        return [`${operationId} does not describe ${answer.status}`];
      if (response.content === undefined) {
        const hasBody = answer.text !== "" || answer.headers["content-type"] !== undefined;
        return [...headerFaults(response, answer), ...(hasBody ? ["it has a body"] : [])];
      }
      const body = parseJson(answer.text);
      if (body === undefined) return ["its body is no JSON"];
      const schema = `${operation.pointer}/${answer.status}/content/application~1json/schema`;
      const isJson = answer.headers["content-type"] === "application/json; charset=utf-8";
      return [
        ...(isJson ? [] : ["it is not application/json"]),
        ...headerFaults(response, answer),
        ...faultsOf(schema, body),
        ...int64Faults(answer.text),
        ...(answer.status < 400 ? [] : errorFaults(answer.status, response, body)),
      ];
    },
    valueFaults: (schema, value) => faultsOf(`api#/components/schemas/${escaped(schema)}`, value),
  };
}

/** Returns the document with the responses of its components in place of the references to them. */
export function resolveResponses<T extends Pick<OpenApi, "components">>(document: T): T {
  const { responses = {} } = document.components;
  return JSON.parse(JSON.stringify(document), (_name, value) => {
    return responses[value?.$ref?.replace("#/components/responses/", "")] ?? value;
  });
}

/** All servers have the same base path. Their URLs may have no host. */
function basePathOf(servers: Servers): string {
  return new URL(servers[0]?.url ?? "", "http://localhost").pathname.replace(/\/$/, "");
}

function errorFaults(status: number, response: ResponseObject, body: unknown): string[] {
  const { code, status: told } = body as { readonly code?: string; readonly status?: number };
  const faults = told === status ? [] : [`the body says ${told}`];
  return codesOf(`${status}`, response).includes(code) ? faults : [...faults, `${code} is not listed for ${status}`];
}

/** `JSON.parse` rounds, so the schema cannot tell the largest int64 from the integer above it. */
function int64Faults(json: string): string[] {
  const integers = json.match(/(?<=[^\\]":)-?\d+/g) ?? [];
  return integers
    .filter((digits) => `${BigInt.asIntN(64, BigInt(digits))}` !== digits)
    .map((digits) => `${digits} is no int64`);
}

function codesOf(status: string, { content }: ResponseObject): (string | undefined)[] {
  return Number(status) < 400 ? [undefined] : Object.keys(content?.["application/json"].examples ?? {});
}

function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}
