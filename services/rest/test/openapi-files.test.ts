// Tests the served OpenAPI files, and the compatibility of the document with the last release.
import { readFileSync } from "node:fs";
import { resolveResponses } from "@petstore/harness/responses";
import { parse as parseExact } from "lossless-json";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { openApiJson, openApiYaml } from "../src/openapi-document.js";
import { breakingChanges } from "./breaking-changes.js";
import { releasedDocument } from "./released-document.mjs";
import { openSharedStore } from "./test-store.js";

const environments = { publicUrl: "https://petstore.example", stagingUrl: "https://staging.petstore.example" };
const committed = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
const asYaml = parseYaml(committed, { intAsBigInt: true });
const store = await openSharedStore({ PUBLIC_URL: environments.publicUrl, STAGING_URL: environments.stagingUrl });

describe("the OpenAPI document", () => {
  it("is compatible with clients that were generated from the last release", () => {
    const released = readFileSync(new URL("../openapi.released.yaml", import.meta.url), "utf8");
    /** Changes of which a review found that they break no client. A release empties this list. */
    const reviewed = [
      // A Link header is a list (RFC 8288), and an error has a new link at its end.
      ...[401, 404, 406, 410, 429, 500, 503].map(
        (status) => `paths > /pets/{petId} > get > responses > ${status} > headers > Link > $ref`,
      ),
      // New limits of responses: the service never sent any other value.
      ...["code", "message"].flatMap((name) =>
        ["maxLength", "pattern"].map((limit) => `components > schemas > Error > properties > ${name} > ${limit}`),
      ),
      ...Object.entries({
        "X-RateLimit-Limit": "maximum",
        "X-RateLimit-Remaining": "maximum",
        "X-RateLimit-Reset": "maximum",
        RateLimit: "maxLength",
        "RateLimit-Policy": "maxLength",
        "X-Request-Id": "maxLength",
        "Retry-After": "maximum",
        "WWW-Authenticate": "maxLength",
        Link: "maxLength",
        DeprecationLink: "maxLength",
      }).map(([name, limit]) => `components > headers > ${name} > schema > ${limit}`),
    ];
    expect(breakingChanges(partsOf(released), partsOf(committed))).toEqual(reviewed);
  });

  it.each([
    ["/openapi.json", "application/json; charset=utf-8", openApiJson(environments)],
    ["/openapi.yaml", "application/yaml; charset=utf-8", openApiYaml(environments)],
  ])("is served at %s", async (path, mediaType, text) => {
    expect(await store.call("GET", path)).toMatchObject({ headers: { "content-type": mediaType }, text });
  });

  it.each([
    [{}, ["/v1"]],
    [{ stagingUrl: "https://s.test" }, ["/v1", "https://s.test/v1"]],
    [{ publicUrl: "https://s.test", stagingUrl: "https://s.test" }, ["https://s.test/v1"]],
    [{ publicUrl: "https://a.test", stagingUrl: "https://s.test" }, ["https://a.test/v1", "https://s.test/v1"]],
  ])("lists the configured servers, and else equals openapi.yaml in every digit: %j", (configured, urls) => {
    const configuration = { publicUrl: undefined, stagingUrl: undefined, ...configured };
    const yaml = parseYaml(openApiYaml(configuration), { intAsBigInt: true });
    const json = parseExact(openApiJson(configuration), undefined, BigInt);
    expect(yaml.servers.map(({ url }: { readonly url: string }) => url)).toEqual(urls);
    expect(yaml).toEqual({ ...asYaml, servers: yaml.servers });
    expect(yaml.info.version).toBe("1.0.0");
    expect(json).toEqual(yaml);
  });
});

type Released = ReturnType<typeof JSON.parse>;

/** The parts that a client is generated from. */
function partsOf(document: string): object {
  const { paths, components } = resolveResponses<Released>(parseYaml(releasedDocument(document)));
  const { responses: _inPlace, ...others } = components;
  return { paths, components: others };
}

it.each<[change: string, older: object, newer: object]>([
  ["a removed parameter", { parameters: [{ name: "x" }] }, { parameters: [] }],
  ["a removed field", { properties: { x: {} } }, { properties: {} }],
  ["a new required parameter", { parameters: [] }, { parameters: [{ name: "x", required: true }] }],
  ["a lower maximum", { maximum: 100 }, { maximum: 50 }],
  ["a new value of an enum", { enum: ["sold"] }, { enum: ["sold", "lost"] }],
])("%s breaks a client", (_change, older, newer) => {
  expect(breakingChanges(older, newer)).toHaveLength(1);
});
