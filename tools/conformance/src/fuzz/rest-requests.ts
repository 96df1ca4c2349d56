/** Requests to the REST API, drawn from its OpenAPI document: what it allows, and everything around it. */
import fc from "fast-check";
import { type Caller, caller, headerValue, moreHeaders } from "./callers.js";
import { cursorText } from "./cursor-text.js";
import { damaged, jsonText, numberText, wellFormedString } from "./hostile.js";
import type { JsonSchema } from "./json-schema.js";
import { newPetText } from "./new-pet.js";
import type { OpenApi, Operation } from "./openapi.js";
import type { WireRequest } from "./wire.js";

/** A request but for what only the run knows: its key. */
export interface Drawn {
  readonly caller: Caller;
  readonly request: WireRequest;
}

export function restRequests({ operations }: OpenApi): fc.Arbitrary<Drawn> {
  return fc.constantFrom(...operations).chain((operation) =>
    fc
      .record({
        caller,
        method: mostly(operation.method, fc.constantFrom(...methods)),
        path: fc.oneof({ weight: 12, arbitrary: pathOf(operation) }, { weight: 1, arbitrary: strayPath }),
        query: queryOf(operation),
        headers: headersOf(operation),
        more: moreHeaders,
        body: operation.hasBody
          ? bodies
          : fc.oneof({ weight: 20, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: bodies }),
      })
      .map(({ caller: by, method, path, query, headers, more, body }) => ({
        caller: by,
        request: {
          api: "rest" as const,
          method,
          path: path + query,
          headers: [...headers, ...more],
          body: sendable(method, body),
        },
      })),
  );
}

export const methods: readonly string[] = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "QUERY",
];

export function mostly<T>(usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 15, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

/** Undici refuses the body of a method that has none by RFC 9110, and so does a careful client. */
export function sendable(method: string, body: Buffer | undefined): Buffer | undefined {
  return method === "GET" || method === "HEAD" || method === "TRACE" ? undefined : body;
}

/** Percent-encoded or, where a request line allows it, as it is. */
const encodedPart: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: wellFormedString.map(encodeURIComponent) },
  { weight: 1, arbitrary: headerValue.map((text) => text.replaceAll(/[^\x21-\x7e]|[/?#]/g, "")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("%", "%zz", "%ff", "%c0%af", "%00", "%2e%2e", "%ed%a0%80", "%u0041", "+", ".", ".."),
  },
);

const strayPath = fc.oneof(
  fc.constantFrom(
    "/v1",
    "/v1/",
    "/v1/pets/",
    "/v1//pets",
    "/V1/pets",
    "/v1/Pets",
    "/v1/pets/1/",
    "/v1/pets/1/owner",
    "/v1/orders",
    "/v2/pets",
    "/v1/pets/../pets",
    "/v1/./pets",
    "/v1/pets;a=1",
    "/v1/%70ets",
    "/v1%2fpets",
    "/v1/pets%00",
    "/v1/__proto__",
    "//v1/pets",
  ),
  encodedPart.map((part) => `/v1/${part}`),
);

function pathOf({ path, parameters }: Operation): fc.Arbitrary<string> {
  const own = parameters.filter((parameter) => parameter.in === "path");
  return fc
    .tuple(...own.map(({ schema }) => fc.oneof(spelling(schema), encodedPart)))
    .map((values) =>
      own.reduce((filled, { name }, index) => filled.replace(`{${name}}`, () => values[index] || "0"), path),
    );
}

function queryOf({ parameters }: Operation): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === "query");
  const names = known.map(({ name }) => name);
  const given = known.map(({ name, schema }) => spelling(schema).map((value) => `${name}=${value}`));
  const stray = fc
    .tuple(
      fc.oneof(fc.constantFrom("__proto__", "limit[]", "limit[0]", "page", "Limit", ...names), encodedPart),
      encodedPart,
    )
    .map(([name, value]) => `${name}=${value}`);
  const some =
    given.length === 0
      ? stray
      : fc.oneof({ weight: 9, arbitrary: fc.oneof(...given) }, { weight: 1, arbitrary: stray });
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant("") },
    {
      weight: 3,
      arbitrary: fc
        .uniqueArray(some, { minLength: 1, maxLength: 3, selector: (part) => part.split("=")[0] ?? "" })
        .map((parts) => `?${parts.join("&")}`),
    },
    { weight: 1, arbitrary: fc.array(some, { maxLength: 5 }).map((parts) => `?${parts.join("&")}`) },
    {
      weight: given.length === 0 ? 0 : 1,
      arbitrary: fc.constantFrom(
        "?",
        "?&",
        "?=",
        "?limit",
        "?limit=",
        "??",
        "?limit=1;status=sold",
        "?%",
        "?%ff=%fe",
        `?${"a&".repeat(1_500)}`,
      ),
    },
  );
}

/** A value as the schema has it in a query or a path, or nearly so. */
function spelling({ type, enum: values, minimum, maximum }: JsonSchema): fc.Arbitrary<string> {
  if (type === "integer") {
    const fits = fc.bigInt({ min: minimum ?? -(2n ** 63n), max: maximum ?? 2n ** 63n - 1n });
    return fc.oneof(
      { weight: 4, arbitrary: fits.map(String) },
      { weight: 1, arbitrary: numberText.map(encodeURIComponent) },
      { weight: 1, arbitrary: encodedPart },
    );
  }
  const words = fc.constantFrom(...((values ?? ["available", "pending", "sold"]) as readonly string[]));
  return fc.oneof(
    { weight: 3, arbitrary: words },
    { weight: 2, arbitrary: cursorText },
    { weight: 1, arbitrary: encodedPart },
  );
}

const jsonTypes = ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"];
export const contentType: fc.Arbitrary<string> = mostly(
  "application/json",
  fc.oneof(
    fc.constantFrom(
      ...jsonTypes,
      "text/plain",
      "application/json; charset=utf-16",
      "application/json; charset=latin1",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "application/graphql",
      "application/merge-patch+json",
      "",
    ),
    headerValue,
  ),
);

function headersOf({ hasBody, parameters }: Operation): fc.Arbitrary<[string, string][]> {
  const own = parameters.filter((parameter) => parameter.in === "header" && parameter.name !== "X-Request-Id");
  const some = own.map(({ name }) => fc.tuple(fc.constant(name), headerValue));
  const encoding = fc.tuple(
    fc.constant("content-encoding"),
    fc.oneof(fc.constantFrom("gzip", "identity", "br", "gzip, gzip"), headerValue),
  );
  const wanted = [...(hasBody ? [contentType.map((type): [string, string] => ["content-type", type])] : [])];
  const optional =
    some.length === 0 ? fc.constant<[string, string][]>([]) : fc.array(fc.oneof(...some), { maxLength: 2 });
  return fc
    .tuple(
      fc.tuple(...wanted),
      fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: optional }),
      fc.oneof({ weight: 30, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: encoding.map((one) => [one]) }),
    )
    .map(([type, given, coding]) => [...type, ...given, ...coding]);
}

const bodies: fc.Arbitrary<Buffer | undefined> = fc.oneof(
  { weight: 6, arbitrary: newPetText.map((text) => Buffer.from(text)) },
  { weight: 3, arbitrary: damaged(newPetText) },
  { weight: 2, arbitrary: jsonText.map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
