// Tests the OpenAPI document: the committed files, the served files, and the compatibility with the last release.
import { readFileSync } from "node:fs";
import { problems } from "@petstore/core";
import { parse as parseExact } from "lossless-json";
import { afterAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { openApiDocument, openApiJson, openApiYaml } from "../src/openapi-document.js";

import { breakingChanges } from "./breaking-changes.js";
import { openTestStore } from "./test-store.js";

const environments = { publicUrl: "https://petstore.example", stagingUrl: "https://staging.petstore.example" };
const description = openApiDocument(environments);
const store = await openTestStore({
  environment: { PUBLIC_URL: environments.publicUrl, STAGING_URL: environments.stagingUrl },
});
afterAll(() => store[Symbol.asyncDispose]());

describe("the OpenAPI document", () => {
  it("is committed in its current form as openapi.yaml", async () => {
    await expect(openApiYaml(description)).toMatchFileSnapshot("../openapi.yaml");
  });

  it("is compatible with clients that were generated from the last release", () => {
    const released = readFileSync(new URL("../openapi.released.yaml", import.meta.url), "utf8");
    expect(breakingChanges(parseYaml(released), JSON.parse(openApiJson(description)))).toEqual([]);
  });

  it.each([
    ["/openapi.json", "application/json; charset=utf-8", openApiJson(description)],
    ["/openapi.yaml", "application/yaml; charset=utf-8", openApiYaml(description)],
  ])("is served at %s without a key and without using the quota", async (path, mediaType, content) => {
    const first = await store.call("GET", path);
    const { status, headers, text, rateLimit } = await store.call("GET", path);
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe(mediaType);
    expect(text).toBe(content);
    expect(rateLimit).toEqual(first.rateLimit);
    expect(rateLimit.remaining).toBe(rateLimit.limit);
    expect((await store.call("HEAD", path)).text).toBe("");
    const unchanged = await store.call("GET", path, { headers: { "If-None-Match": headers.etag ?? "" } });
    expect([unchanged.status, unchanged.text]).toEqual([304, ""]);
    expect(unchanged.rateLimit).toEqual(first.rateLimit);
  });

  it("has the same content in JSON and YAML, with every digit of an int64", () => {
    const asJson = parseExact(openApiJson(description), undefined, BigInt);
    const asYaml = parseYaml(openApiYaml(description), { intAsBigInt: true });
    expect(asYaml).toEqual(asJson);
    expect(openApiJson(description)).toContain('"maximum": 9223372036854775807');
    expect(openApiYaml(description)).toContain("minimum: -9223372036854775808");
  });

  it("lists every error code of the REST API, and no other", () => {
    const text = openApiJson(description);
    const graphqlOnlyCodes = ["GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "OPERATION_TOO_LARGE"];
    for (const code of Object.keys(problems)) {
      expect(text.includes(`"${code}"`), code).toBe(!graphqlOnlyCodes.includes(code));
    }
  });

  it.each([
    [{}, ["/v1"]],
    [{ publicUrl: "https://a.test" }, ["https://a.test/v1"]],
    [{ stagingUrl: "https://s.test" }, ["/v1", "https://s.test/v1"]],
    [{ publicUrl: "https://a.test", stagingUrl: "https://s.test" }, ["https://a.test/v1", "https://s.test/v1"]],
    [{ publicUrl: "https://s.test", stagingUrl: "https://s.test" }, ["https://s.test/v1"]],
  ])("lists the configured servers: %j", (configured, urls) => {
    const { servers } = openApiDocument({ publicUrl: undefined, stagingUrl: undefined, ...configured });
    expect((servers as { url: string }[]).map(({ url }) => url)).toEqual(urls);
  });

  it("uses the operation ids and the version of the contract", () => {
    const { info, paths } = JSON.parse(openApiJson(description));
    expect(info.version).toBe("1.0.0");
    expect(paths["/pets"].get.operationId).toBe("listPets");
    expect(paths["/pets"].post.operationId).toBe("createPet");
    expect(paths["/pets/{petId}"].get).toMatchObject({
      operationId: "getPet",
      deprecated: true,
      "x-sunset": "2030-12-05",
    });
  });
});

describe("breakingChanges", () => {
  const released = JSON.parse(openApiJson(description));
  const changed = (change: (document: typeof released) => void) => {
    const copy = structuredClone(released);
    change(copy);
    return breakingChanges(released, copy);
  };

  it.each([
    ["an operation is removed", (d: typeof released) => delete d.paths["/pets"].post],
    ["an operation is renamed", (d: typeof released) => (d.paths["/pets"].get.operationId = "list")],
    ["a parameter is removed", (d: typeof released) => d.paths["/pets"].get.parameters.shift()],
    ["a parameter becomes required", (d: typeof released) => (d.paths["/pets"].get.parameters[0].required = true)],
    ["a parameter is narrowed", (d: typeof released) => (d.paths["/pets"].get.parameters[0].schema.maximum = 50)],
    [
      "a required field is added to a request body",
      (d: typeof released) => d.components.schemas.NewPet.required.push("status"),
    ],
    [
      "a field of a request body is removed",
      (d: typeof released) => delete d.components.schemas.NewPet.properties.status,
    ],
    [
      "a field of a request body is narrowed",
      (d: typeof released) => (d.components.schemas.NewPet.properties.name.maxLength = 9),
    ],
    ["a field of a response is removed", (d: typeof released) => delete d.components.schemas.Pet.properties.name],
    ["a field of a response becomes optional", (d: typeof released) => d.components.schemas.Pet.required.pop()],
    ["a type changes", (d: typeof released) => (d.components.schemas.Pet.properties.id.type = "string")],
    [
      "a value is added to an enum in a response",
      (d: typeof released) => d.components.schemas.PetStatus.enum.push("lost"),
    ],
    [
      "a value is removed from an enum in a request",
      (d: typeof released) => d.components.schemas.PetStatus.enum.shift(),
    ],
    ["a response status is removed", (d: typeof released) => delete d.paths["/pets"].get.responses["200"]],
    ["a response header is removed", (d: typeof released) => delete d.paths["/pets"].get.responses["200"].headers.Link],
    [
      "a response header becomes optional",
      (d: typeof released) => (d.components.headers["X-RateLimit-Limit"].required = false),
    ],
  ])("reports that %s", (_name, change) => {
    expect(changed(change)).not.toEqual([]);
  });

  it.each([
    ["a description changes", (d: typeof released) => (d.paths["/pets"].get.description = "A new description.")],
    [
      "an optional parameter is added",
      (d: typeof released) => d.paths["/pets"].get.parameters.push({ name: "x", in: "query", schema: {} }),
    ],
    [
      "an optional field is added to a response",
      (d: typeof released) => (d.components.schemas.Pet.properties.age = { type: "integer" }),
    ],
    ["a parameter is widened", (d: typeof released) => (d.paths["/pets"].get.parameters[0].schema.maximum = 500)],
    [
      "an operation is added",
      (d: typeof released) => (d.paths["/pets"].delete = { operationId: "clear", responses: {} }),
    ],
  ])("allows that %s", (_name, change) => {
    expect(changed(change)).toEqual([]);
  });
});
