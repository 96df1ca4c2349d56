import { readFile } from "node:fs/promises";
import { createResponseCheck, type OpenApi } from "@petstore/harness/responses";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { createResponseFaults } from "./response-faults.js";

const openApiFile = new URL("../../../../services/rest/openapi.yaml", import.meta.url);
const responseCheck = createResponseCheck(parse(await readFile(openApiFile, "utf8")) as OpenApi);
const responseFaults = createResponseFaults(responseCheck, ["pets_test_secret"]);

const usualHeaders = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": "59",
  "x-ratelimit-reset": "1795204620",
  "x-request-id": "mine-1",
  ratelimit: '"minute";r=59;t=20, "day";r=999;t=52220',
  "ratelimit-policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
};
const rex = '[{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}]';
const problem = (code: string, status: number) => JSON.stringify({ code, message: "Why.", status });
const graphqlError = (code: string, status: number) =>
  JSON.stringify({ data: null, errors: [{ message: "Why.", extensions: { code, status } }] });

function faultsOf(path: string, status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
  const api = path === "/graphql" ? "graphql" : "rest";
  return responseFaults(api, api === "rest" ? "GET" : "POST", path, {
    status,
    headers: { ...usualHeaders, ...headers },
    text,
  });
}

it.each<[kind: string, path: string, status: number, text: string, headers?: Readonly<Record<string, string>>]>([
  ["5xx", "/v1/pets", 500, problem("INTERNAL_ERROR", 500)],
  ["5xx", "/graphql", 200, graphqlError("INTERNAL_ERROR", 500)],
  ["header", "/v1/pets", 200, rex, { "x-ratelimit-remaining": "-1" }],
  ["document", "/v1/pets", 418, "{}"],
  ["document", "/v1/pets", 200, rex.replace("5807", "5808")],
  ["document", "/v1/pets", 200, rex.replace("}", ',"age":1}')],
  ["document", "/v1/pets", 200, rex, { "content-type": "text/html" }],
  ["document", "/v1/pets", 200, rex, { "x-new": "1" }],
  ["document", "/v1/pets", 400, problem("PET_NOT_FOUND", 400)],
  ["document", "/v1/pets", 400, problem("INVALID_CURSOR", 404)],
  ["document", "/graphql", 418, graphqlError("VALIDATION_FAILED", 400)],
  ["body", "/v1/toys", 404, problem("API_KEY_MISSING", 404)],
  ["body", "/v1/toys", 404, '{"code":"ROUTE_NOT_FOUND","message":"Why.","status":404,"stack":""}'],
  ["body", "/v1/toys", 404, "<!doctype html>", { "content-type": "text/html; charset=utf-8" }],
  ["body", "/toys", 200, "<!doctype html>", { "content-type": "text/html; charset=utf-8" }],
  ["body", "/graphql", 200, "[]"],
  ["body", "/graphql", 200, '{"data":{}}'],
  ["body", "/graphql", 200, '{"errors":[]}'],
  ["body", "/graphql", 200, graphqlError("ODD", 400)],
  ["body", "/graphql", 400, graphqlError("VALIDATION_FAILED", 400)],
  ["leak", "/v1/pets", 200, rex.replace("Rex", "pets_test_secret")],
  ["leak", "/v1/pets", 400, problem("VALIDATION_FAILED", 400).replace("Why", "select id from pets")],
])("finds the fault %s of %s with %d: %s", (kind, path, status, text, headers = {}) => {
  expect(faultsOf(path, status, text, headers).map((fault) => fault.split(":")[0])).toContain(kind);
});
