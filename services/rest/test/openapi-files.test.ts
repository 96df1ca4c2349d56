// The OpenAPI files that the service serves. openapi-compatibility.test.ts compares the document with the last release.
import { readFileSync } from "node:fs";
import { parse as parseExact } from "lossless-json";
import { expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import { openApi30Json, openApiJson, openApiYaml } from "../src/openapi-document.js";
import { openSharedStore } from "./test-store.js";

const environments = { publicUrl: "https://petstore.example", stagingUrl: "https://staging.petstore.example" };
const committed = readFileSync(new URL("../openapi.yaml", import.meta.url), "utf8");
const asYaml = parseYaml(committed, { intAsBigInt: true });
const store = await openSharedStore({ PUBLIC_URL: environments.publicUrl, STAGING_URL: environments.stagingUrl });

it.each([
  ["/openapi.json", "application/json; charset=utf-8", openApiJson(environments)],
  ["/openapi.yaml", "application/yaml; charset=utf-8", openApiYaml(environments)],
  ["/openapi-3.0.json", "application/json; charset=utf-8", openApi30Json(environments)],
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
  expect(urlsOf(yaml)).toEqual(urls);
  // The rate limit is beside `/v1`.
  expect(urlsOf(yaml.paths["/rate_limit"].get)).toEqual(urls.map((url) => url.replace(/\/v1$/, "") || "/"));
  expect(withoutServers(yaml)).toEqual(withoutServers(asYaml));
  expect(yaml.info.version).toBe("1.0.0");
  expect(json).toEqual(yaml);
  const older = parseYaml(openApi30Json(configuration));
  expect([urlsOf(older), urlsOf(older.paths["/rate_limit"].get)]).toEqual(
    [yaml, yaml.paths["/rate_limit"].get].map(urlsOf),
  );
});

function urlsOf({ servers }: { readonly servers: readonly { readonly url: string }[] }): readonly string[] {
  return servers.map(({ url }) => url);
}

function withoutServers(document: object): unknown {
  return JSON.parse(
    JSON.stringify(document, (name, value: unknown) => {
      if (typeof value === "bigint") return `${value}n`;
      return name === "servers" ? [] : value;
    }),
  );
}
