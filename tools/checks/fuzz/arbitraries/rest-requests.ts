/** Requests to the REST API: what its OpenAPI document allows, and variations of that. */
import fc from "fast-check";
import { type Caller, caller, contentType, type Headers, headerValue, moreHeaders } from "./headers.js";
import { anyJson, damaged, int64, mostly, numberText, weighted, wellFormedString } from "./json.js";
import { cursor, type NewPet, newPet } from "./pets.js";

export interface HttpRequest {
  readonly caller: Caller;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer | undefined;
  /** The pet that the body describes, where the body is not damaged. */
  readonly newPet?: NewPet | undefined;
}

/** The parts of an OpenAPI document that requests are drawn from. */
export interface RequestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: ValueSchema }[];
  readonly requestBody?: unknown;
}

interface ValueSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export function restRequests(document: RequestDocument): fc.Arbitrary<HttpRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestsOf(`/v1${path}`, method.toUpperCase(), operation)),
  );
  return fc.oneof(...operations);

  function requestsOf(path: string, method: string, operation: Operation): fc.Arbitrary<HttpRequest> {
    const hasBody = operation.requestBody !== undefined;
    const parameters = (operation.parameters ?? []).map(({ name, in: place, schema }) => ({
      name,
      place,
      value: parameterValue({ ...document.components.schemas[schema.$ref?.split("/").at(-1) ?? ""], ...schema }),
    }));
    const placed = (place: string) => parameters.filter((parameter) => parameter.place === place);
    const headers = placed("header").map(({ name }) => fc.tuple(fc.constant(name), headerValue));
    return fc
      .record({
        caller,
        method: mostly(method, otherMethod),
        path: weighted([12, filledPath(path, placed("path"))], [1, strayPath]),
        query: queryOf(placed("query")),
        type: hasBody ? contentType.map((type): Headers => [["content-type", type]]) : fc.constant<Headers>([]),
        own: mostly<Headers>([], fc.array(fc.oneof(...headers), { maxLength: 2 }), 3),
        more: moreHeaders,
        content: hasBody ? body : mostly<Body>({}, body, 20),
      })
      .map(({ path: bare, query, type, own, more, content, ...request }) => ({
        ...request,
        path: bare + query,
        headers: [...type, ...own, ...more],
        ...content,
      }));
  }
}

type Body = Pick<HttpRequest, "body" | "newPet">;

const body: fc.Arbitrary<Body> = weighted<Body>(
  [6, newPet.map((pet) => ({ body: Buffer.from(pet.text), newPet: pet }))],
  [3, damaged(newPet.map(({ text }) => text)).map((bytes) => ({ body: bytes }))],
  [2, anyJson.map(({ text }) => ({ body: Buffer.from(text) }))],
  [1, fc.constant<Body>({})],
);

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];
export const otherMethod: fc.Arbitrary<string> = fc.constantFrom(...methods);

const oddParts = ["%", "%zz", "%ff", "%c0%af", "%00", "%2e%2e", "%ed%a0%80", "%u0041", "+", ".", ".."];
/** Part of a path or a query: percent-encoded, or as it is where a request line allows it. */
const urlPart: fc.Arbitrary<string> = weighted(
  [3, wellFormedString.map(encodeURIComponent)],
  [1, headerValue.map((text) => text.replaceAll(/[^\x21-\x7e]|[/?#]/g, ""))],
  [1, fc.constantFrom(...oddParts)],
);

const strayPaths =
  "/v1 /v1/ /v1/pets/ /v1//pets /V1/pets /v1/Pets /v1/pets/1/ /v1/pets/1/owner /v1/orders /v2/pets /v1/pets/../pets " +
  "/v1/./pets /v1/pets;a=1 /v1/%70ets /v1%2fpets /v1/pets%00 /v1/__proto__ //v1/pets";
const strayPath = fc.oneof(
  fc.constantFrom(...strayPaths.split(" ")),
  urlPart.map((part) => `/v1/${part}`),
);

interface Parameter {
  readonly name: string;
  readonly value: fc.Arbitrary<string>;
}

function filledPath(path: string, parameters: readonly Parameter[]): fc.Arbitrary<string> {
  return fc
    .tuple(...parameters.map(({ value }) => value))
    .map((values) =>
      parameters.reduce((filled, { name }, index) => filled.replace(`{${name}}`, () => values[index] || "0"), path),
    );
}

function queryOf(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const names = ["__proto__", "limit[]", "limit[0]", "page", "Limit", ...parameters.map(({ name }) => name)];
  const stray = fc.tuple(fc.oneof(fc.constantFrom(...names), urlPart), urlPart).map((pair) => pair.join("="));
  const known = parameters.map(({ name, value }) => value.map((text) => `${name}=${text}`));
  const pair = known.length === 0 ? stray : weighted([9, fc.oneof(...known)], [1, stray]);
  const selector = (text: string) => text.split("=")[0];
  const pairs = weighted(
    [3, fc.uniqueArray(pair, { minLength: 1, maxLength: 3, selector })],
    [1, fc.array(pair, { maxLength: 5 })],
  );
  const odd = fc.constantFrom("?", "?&", "?=", "?limit", "?limit=", "??", "?limit=1;status=sold", "?%", "?%ff=%fe");
  return weighted(
    [known.length === 0 ? 8 : 1, fc.constant("")],
    [4, pairs.map((parts) => `?${parts.join("&")}`)],
    [1, fc.oneof(odd, fc.constant(`?${"a&".repeat(1_500)}`))],
  );
}

/** A value that the schema allows, or nearly so. */
function parameterValue({ type, format, enum: values, minimum, maximum }: ValueSchema): fc.Arbitrary<string> {
  if (type === "integer") {
    const allowed = format === "int64" ? int64 : fc.bigInt({ min: BigInt(minimum ?? 0), max: BigInt(maximum ?? 0) });
    return weighted([4, allowed.map(String)], [1, numberText.map(encodeURIComponent)], [1, urlPart]);
  }
  return weighted([4, values === undefined ? cursor : fc.constantFrom(...values)], [1, urlPart]);
}
