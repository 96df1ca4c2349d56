/** Requests to the REST API: what its OpenAPI document allows, and variations of that. */
import { dearValues } from "@petstore/harness/responses";
import fc from "fast-check";
import { type Caller, caller, contentType, type Headers, headerValue, moreHeaders } from "./headers.js";
import { damaged, edited, int64, mostly, numberText, weighted, wellFormedString } from "./json.js";
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
  /** Present if the operation is outside `/v1`. */
  readonly servers?: readonly object[];
}

interface ValueSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export function restRequests({ paths, components }: RequestDocument): fc.Arbitrary<HttpRequest> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      requestsOf(operation.servers === undefined ? "/v1" : "", path, method.toUpperCase(), operation),
    ),
  );
  return fc.oneof(...operations);

  function requestsOf(base: string, path: string, method: string, operation: Operation): fc.Arbitrary<HttpRequest> {
    const valuesIn = (place: string): fc.Arbitrary<Values> => {
      const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
      const values = parameters.map(({ name, schema }) => {
        const shared = components.schemas[schema.$ref?.split("/").at(-1) ?? ""];
        return [name, parameterValue({ ...shared, ...schema })] as const;
      });
      return fc.record(Object.fromEntries(values), { requiredKeys: [] });
    };
    const target = fc.tuple(valuesIn("path"), valuesIn("query")).map(([inPath, query]) => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) => inPath[name] ?? "1");
      const pairs = Object.entries(query).map(([name, value]) => `${name}=${value}`);
      return filled + (pairs.length === 0 ? "" : `?${pairs.join("&")}`);
    });
    return fc
      .record({
        caller,
        method: mostly(method, otherMethod),
        base: mostly(base, fc.constantFrom("/V1", "/v2", "//v1", "/./v1", "/v1/v1", "/v1%2f"), 60),
        // Without a base, an edited path could be that of a page.
        target:
          base === ""
            ? target
            : weighted([4, target], [1, edited(target, urlPart).map((text) => text.replaceAll(unsendable, ""))]),
        content: operation.requestBody === undefined ? mostly<Content>({ headers: [] }, content, 20) : content,
        more: moreHeaders,
      })
      .map(({ base, target, content: { headers, ...body }, more, ...request }) => ({
        ...request,
        ...body,
        path: base + target,
        headers: [...headers, ...more],
      }));
  }
}

type Values = Readonly<Record<string, string | undefined>>;
type Content = Pick<HttpRequest, "headers" | "body" | "newPet">;

const content: fc.Arbitrary<Content> = fc
  .tuple(
    contentType,
    weighted<Omit<Content, "headers">>(
      [8, newPet.map((pet) => ({ body: Buffer.from(pet.text), newPet: pet }))],
      [3, damaged(newPet.map(({ text }) => text)).map((body) => ({ body }))],
      [1, fc.constantFrom(...Object.values(dearValues)).map((json) => ({ body: Buffer.from(json) }))],
      [1, fc.constant({})],
    ),
  )
  .map(([type, body]) => ({ headers: [["content-type", type]], ...body }));

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];
export const otherMethod: fc.Arbitrary<string> = fc.constantFrom(...methods);

const oddParts =
  "? & = ; / // . .. + % %zz %ff %c0%af %00 %2e%2e %ed%a0%80 %u0041 %70 a=1 limit limit[] limit[0]= Limit=1 limit=1&limit=2 " +
  "status __proto__=1 /owner ?%ff=%fe";
const encoded = wellFormedString.map(encodeURIComponent);
const urlPart = weighted([3, fc.constantFrom(...oddParts.split(" "))], [1, encoded], [1, headerValue]);
/** A request line cannot hold these characters. */
const unsendable = /[^\x21-\x7e]|#/g;

/** A value that the schema allows, or nearly so. */
function parameterValue({ type, format, enum: values, minimum, maximum }: ValueSchema): fc.Arbitrary<string> {
  if (type === "integer") {
    const allowed = format === "int64" ? int64 : fc.bigInt({ min: BigInt(minimum ?? 0), max: BigInt(maximum ?? 0) });
    return weighted([4, allowed.map(String)], [1, numberText.map(encodeURIComponent)], [1, encoded]);
  }
  return weighted([4, values === undefined ? cursor : fc.constantFrom(...values)], [1, encoded]);
}
