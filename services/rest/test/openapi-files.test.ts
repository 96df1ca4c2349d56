// The OpenAPI files that the service serves. openapi-compatibility.test.ts compares the document with the last release.
import { readFileSync } from "node:fs";
import { parse as parseExact } from "lossless-json";
import { expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { openApiJson, openApiYaml } from "../src/openapi-document.js";
import { openSharedStore } from "./test-store.js";

const environments = { publicUrl: "https://petstore.example", stagingUrl: "https://staging.petstore.example" };
const committed = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
const asYaml = parseYaml(committed, { intAsBigInt: true });
const store = await openSharedStore({ PUBLIC_URL: environments.publicUrl, STAGING_URL: environments.stagingUrl });

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
