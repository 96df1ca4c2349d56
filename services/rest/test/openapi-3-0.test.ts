// The OpenAPI 3.0 form, as the build wrote it, says the same as the OpenAPI 3.1 document.
import { readFileSync } from "node:fs";
import { parse } from "lossless-json";
import { expect, it } from "vitest";

interface Document {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const read = (name: string) =>
  parse(readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8"), undefined, BigInt) as Document;
const newer = read("openapi.json");
const older = read("openapi-3.0.json");

/** The parts of both documents: each response and other member of each operation, and each component. */
const partsOf = ({ paths, components }: Document) => [
  ...Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const { responses = {}, ...others } = operation as Readonly<Record<string, object>>;
      const described = Object.entries({ ...responses, ...others });
      return described.map(([name, part]) => [`${method} ${path} ${name}`, part] as const);
    }),
  ),
  ...Object.entries(components).flatMap(([kind, all]) =>
    Object.entries(all).map(([name, part]) => [`${kind} ${name}`, part] as const),
  ),
];
const olderParts = new Map<string, unknown>(partsOf(older));

it.each(partsOf(newer))("%s is the same", (name, part) => {
  expect(olderParts.has(name)).toBe(true);
  expect(inNewerWords(olderParts.get(name))).toEqual(withTypeNull(part));
});

it("nothing else is in either document", () => {
  expect([newer.openapi, older.openapi]).toEqual(["3.1.1", "3.0.3"]);
  expect(partsOf(older).map(([name]) => name)).toEqual(partsOf(newer).map(([name]) => name));
  const { openapi: _newer, info, paths: _paths, components: _components, ...others } = newer;
  const { openapi: _older, info: olderInfo, paths: _olderPaths, components: _olderComponents, ...olderOthers } = older;
  expect(olderOthers).toEqual(others);
  expect(olderInfo).toEqual({
    title: "Pet store",
    version: "1.0.0",
    description: `The catalogue of a pet store.\n\n${info.description}`,
    license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
  });
  expect(info).toMatchObject({
    title: "Pet store",
    version: "1.0.0",
    summary: "The catalogue of a pet store.",
    license: { name: "MIT", identifier: "MIT" },
  });
});

/** Writes a part of the older document in the words of 3.1: a second way, the reverse of that of the build. */
function inNewerWords(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(inNewerWords);
  if (typeof part !== "object" || part === null) return part;
  const { nullable, allOf, exclusiveMinimum, exclusiveMaximum, ...rest } = part as Readonly<Record<string, unknown>>;
  // Our 3.1 document has none of these.
  expect([exclusiveMinimum, exclusiveMaximum]).toEqual([undefined, undefined]);
  const renamed = Object.entries(rest).map(([keyword, value]) => {
    if (keyword === "enum" && Array.isArray(value) && value.length === 1) return ["const", value[0]];
    if (keyword === "type" && nullable === true) return ["type", [value, "null"]];
    return [keyword, inNewerWords(value)];
  });
  const reference = Array.isArray(allOf) ? allOf[0] : {};
  return { ...reference, ...Object.fromEntries(renamed) };
}

/** Writes "this schema or null" as a second type, as `inNewerWords` does. */
function withTypeNull(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withTypeNull);
  if (typeof part !== "object" || part === null) return part;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, withTypeNull(value)]),
  );
  if (!Array.isArray(anyOf) || anyOf[1]?.type !== "null") return anyOf === undefined ? rest : { ...rest, anyOf };
  return { ...rest, ...anyOf[0], type: [anyOf[0].type, "null"] };
}
