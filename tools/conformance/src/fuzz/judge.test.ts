import { describe, expect, it } from "vitest";
import { createJudge } from "./judge.js";
import { readOpenApi } from "./openapi.js";
import { asCurl, type WireRequest } from "./wire.js";

const openApi = await readOpenApi();
const judge = createJudge({ openApi, secrets: ["pets_test_secret"] });

const list: WireRequest = { api: "rest", method: "GET", path: "/v1/pets?limit=1", headers: [] };
const graphql: WireRequest = { api: "graphql", method: "POST", path: "/graphql", headers: [] };
const headers = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": "59",
  "x-ratelimit-reset": "1795204620",
  "x-request-id": "mine-1",
  ratelimit: '"minute";r=59;t=20, "day";r=999;t=52220',
  "ratelimit-policy": '"minute";q=60;w=60, "day";q=1000;w=86400',
};
const answer = (status: number, text: string, changed: Readonly<Record<string, string>> = {}) => ({
  status,
  headers: { ...headers, ...changed },
  text,
  receivedAtMs: 0,
});
const rex = '[{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}]';
const problem = (code: string, status: number) => JSON.stringify({ code, message: "Why.", status });

describe("judging an answer", () => {
  it("finds nothing wrong with what the document describes", () => {
    expect(judge(list, answer(200, rex))).toEqual([]);
    expect(judge(list, answer(400, problem("INVALID_CURSOR", 400)))).toEqual([]);
    expect(judge(graphql, answer(200, '{"data":{"pets":[]},"extensions":{"cost":1}}'))).toEqual([]);
  });

  it.each([
    ["5xx", list, answer(500, problem("INTERNAL_ERROR", 500))],
    [
      "5xx",
      graphql,
      answer(200, '{"data":null,"errors":[{"message":"a","extensions":{"code":"INTERNAL_ERROR","status":500}}]}'),
    ],
    ["headers", list, answer(200, rex, { "x-ratelimit-remaining": "-1" })],
    ["headers", list, answer(200, rex, { "x-request-id": "" })],
    ["undocumented", list, answer(418, "{}")],
    ["undocumented", list, answer(200, "[{}]")],
    ["undocumented", list, answer(200, rex.replace("5807", "5808"))],
    ["undocumented", list, answer(200, rex, { "cache-control": "public" })],
    ["undocumented", list, answer(400, problem("PET_NOT_FOUND", 400))],
    ["undocumented", list, answer(400, problem("INVALID_CURSOR", 404))],
    ["undocumented", graphql, answer(200, "[]")],
    ["undocumented", graphql, answer(200, '{"data":{}}')],
    ["undocumented", graphql, answer(200, '{"errors":[{"message":"a","extensions":{"code":"ODD","status":400}}]}')],
    ["leak", list, answer(200, rex.replace("Rex", "pets_test_secret"))],
    ["leak", list, answer(400, problem("VALIDATION_FAILED", 400).replace("Why", "select id from pets"))],
  ] as const)("counts under %s what belongs there", (oracle, request, given) => {
    expect(judge(request, given).map((fault) => fault.oracle)).toContain(oracle);
  });
});

describe("the OpenAPI document", () => {
  it.each([
    { name: "Rex", categoryId: 2n ** 63n - 1n },
    { name: "🐈".repeat(255), categoryId: 0n, status: "sold" },
  ])("lets a pet be added", (pet) => {
    expect(openApi.newPetFault(pet)).toBeUndefined();
  });

  it.each([
    {},
    { name: "Rex" },
    { name: "", categoryId: 1n },
    { name: " \u3000", categoryId: 1n },
    { name: "\ud83d", categoryId: 1n },
    { name: "n".repeat(256), categoryId: 1n },
    { name: "Rex", categoryId: 1.5 },
    { name: "Rex", categoryId: 2n ** 63n },
    { name: "Rex", categoryId: 1n, status: "lost" },
    { name: "Rex", categoryId: 1n, id: 1n },
  ])("does not let %o be added", (pet) => {
    expect(openApi.newPetFault(pet)).toBeTypeOf("string");
  });
});

it("prints a request for a terminal, without the key, and bytes that are no text as bytes", () => {
  const request = { ...list, headers: [["authorization", "Bearer pets_test_abc"]] as const };
  expect(asCurl(request)).toBe(
    `curl -i --path-as-is -X 'GET' -H 'authorization: Bearer '"$KEY"'' "$REST"'/v1/pets?limit=1'`,
  );
  expect(asCurl({ ...graphql, body: Buffer.from([0xff]) })).toContain("printf %s /w== | base64 -d | curl");
});
