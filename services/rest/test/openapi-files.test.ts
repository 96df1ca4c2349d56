// Tests the served OpenAPI files, and the compatibility of the document with the last release.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { resolveResponses } from "@petstore/harness/responses";
import { parse as parseExact } from "lossless-json";
import { expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { openApiJson, openApiYaml } from "../src/openapi-document.js";
import { releasedDocument } from "./released-document.mjs";
import { openSharedStore } from "./test-store.js";

const environments = { publicUrl: "https://petstore.example", stagingUrl: "https://staging.petstore.example" };
const committed = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
const asYaml = parseYaml(committed, { intAsBigInt: true });
const store = await openSharedStore({ PUBLIC_URL: environments.publicUrl, STAGING_URL: environments.stagingUrl });

it("the OpenAPI document is compatible with clients that were generated from the last release", () => {
  const released = readFileSync(new URL("../openapi.released.yaml", import.meta.url), "utf8");
  /** Changes of which a review found that they break no client. A release empties this list. */
  const reviewed = [
    // A page may have another value, which allows a client to store it. A client that stores no page is not affected.
    "paths > /pets > get > responses > 200 > headers > Cache-Control > $ref",
    // A Link header is a list (RFC 8288), and an error has a new link at its end.
    ...[401, 404, 406, 410, 429, 500, 503].map(
      (status) => `paths > /pets/{petId} > get > responses > ${status} > headers > Link > $ref`,
    ),
    // New limits of responses: the service never sent any other value.
    ...["code", "message"].flatMap((name) =>
      ["maxLength", "pattern"].map((limit) => `components > schemas > Error > properties > ${name} > ${limit}`),
    ),
  ];
  expect(breakingChanges(partsOf(released), partsOf(committed))).toEqual(reviewed);
});

it.each([
  ["/openapi.json", "application/json; charset=utf-8", openApiJson(environments)],
  ["/openapi.yaml", "application/yaml; charset=utf-8", openApiYaml(environments)],
])("the OpenAPI document is served at %s", async (path, mediaType, text) => {
  expect(await store.call("GET", path)).toMatchObject({ headers: { "content-type": mediaType }, text });
});

it.each([
  [{}, ["/v1"]],
  [{ stagingUrl: "https://s.test" }, ["/v1", "https://s.test/v1"]],
  [{ publicUrl: "https://s.test", stagingUrl: "https://s.test" }, ["https://s.test/v1"]],
  [{ publicUrl: "https://a.test", stagingUrl: "https://s.test" }, ["https://a.test/v1", "https://s.test/v1"]],
])("the document lists the configured servers, and else equals openapi.yaml in every digit: %j", (configured, urls) => {
  const configuration = { publicUrl: undefined, stagingUrl: undefined, ...configured };
  const yaml = parseYaml(openApiYaml(configuration), { intAsBigInt: true });
  const json = parseExact(openApiJson(configuration), undefined, BigInt);
  expect(yaml.servers.map(({ url }: { readonly url: string }) => url)).toEqual(urls);
  expect(yaml).toEqual({ ...asYaml, servers: yaml.servers });
  expect(yaml.info.version).toBe("1.0.0");
  expect(json).toEqual(yaml);
});

/** The parts that a client is generated from. */
function partsOf(document: string): object {
  const { paths, components } = resolveResponses(parseYaml(releasedDocument(document)));
  const { responses: _inPlace, ...others } = components;
  return { paths, components: others };
}

const headerOf = (schema: object) => ({ components: { headers: { Link: { schema } } } });
it.each<[change: string, older: object, newer: object]>([
  ["a removed parameter", { parameters: [{ name: "x" }] }, { parameters: [] }],
  ["a removed field", { properties: { x: {} } }, { properties: {} }],
  ["a new required parameter", { parameters: [] }, { parameters: [{ name: "x", required: true }] }],
  ["a lower maximum", { maximum: 100 }, { maximum: 50 }],
  ["a new value of an enum", { enum: ["sold"] }, { enum: ["sold", "lost"] }],
  ["a new value of a header", headerOf({ enum: ["a"] }), headerOf({ enum: ["a", "b"] })],
])("%s breaks a client", (_change, older, newer) => {
  expect(breakingChanges(older, newer)).toHaveLength(1);
});

/** A client ignores members of these that it does not know. */
const extensible = new Set(["paths", "responses", "headers", "properties", "schemas", "x-extensible-enum"]);

/**
 * The places where the newer part of an OpenAPI document differs from the older one, except for new paths, operations,
 * responses, headers, limits of headers, properties and optional parameters. A few of these changes break no client,
 * for example a higher maximum of a parameter, so a person has to review them. The comparison tools on npm read only
 * OpenAPI 3.0, or download a binary during installation.
 */
function breakingChanges(older: unknown, newer: unknown, path: readonly string[] = []): string[] {
  if (isDeepStrictEqual(older, newer) || (older === undefined && isExtension(newer, path))) return [];
  if (!isNode(older) || !isNode(newer)) return [path.join(" > ")];
  const [before, after] = [membersOf(older), membersOf(newer)];
  return Object.keys({ ...before, ...after }).flatMap((name) =>
    breakingChanges(before[name], after[name], [...path, name]),
  );
}

function isExtension(added: unknown, path: readonly string[]): boolean {
  const parent = path.at(-2) ?? "";
  const isOperation = path.at(-3) === "paths";
  const isOptionalParameter = parent === "parameters" && isNode(added) && !("required" in added && added.required);
  // Only responses have headers, so a new limit of a header restricts the service.
  const isLimitOfHeader = path[1] === "headers" && parent === "schema";
  return extensible.has(parent) || isOperation || isOptionalParameter || isLimitOfHeader;
}

function isNode(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A parameter is found by its name, and any other item of an array by itself. */
function membersOf(node: object): Readonly<Record<string, unknown>> {
  return Array.isArray(node) ? Object.fromEntries(node.map((item) => [item.name ?? item, item])) : { ...node };
}
