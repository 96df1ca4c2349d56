import { readFile } from "node:fs/promises";
import { describeWithRedis } from "@petstore/harness";
import { runSnippet, snippetsOf } from "@petstore/harness/snippets";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compile, generateTypes, usage } from "../src/clients/generated-types.js";
import { type OpenedStage, openStage, type Services } from "../src/stage.js";

const path = "services/graphql/docs/quickstart.md";

/** What its blocks print, in their order. */
const printed: readonly RegExp[] = [
  /^{"data":{"createPet":{"id":"1","name":"Rex","categoryId":"9007199254740993"}},"extensions":{"cost":1}}$/,
  /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: \d+.*{"petsConnection":{"nodes":\[{"id":"1","name":"Rex"}\]/s,
  /^Ada\nRex, Ada\nVALIDATION_FAILED first must be an integer from 1 to 100\n$/,
  /^1 Rex\nVALIDATION_FAILED \d+\n$/,
];

describeWithRedis("the quickstart of the GraphQL API", () => {
  let stage: OpenedStage;
  let services: Services;

  beforeAll(async () => {
    stage = await openStage();
    services = await stage.startServices(["graphql"]);
  });

  afterAll(async () => {
    await services[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
  });

  it("says what its examples do", async () => {
    const account = await stage.store.openAccount({ perMinute: 1_000, perDay: 10_000 });
    const GRAPHQL_URL = `${services.originOf("graphql")}/graphql`;
    const env = { PATH: process.env.PATH, GRAPHQL_URL, API_KEY: await account.issueKey() };
    const folder = new URL("../dist/", import.meta.url);
    const snippets = await snippetsOf(path);
    expect(snippets).toHaveLength(printed.length);
    for (const [index, snippet] of snippets.entries()) {
      expect(await runSnippet(snippet, { env, folder })).toMatch(printed[index] ?? /^$/);
    }
  });
});

it("its configuration of graphql-codegen makes types that compile", async () => {
  const text = await readFile(new URL(`../../../${path}`, import.meta.url), "utf8");
  const [, block = ""] = /^```json\n(.*?)^```$/ms.exec(text) ?? [];
  const { generates } = JSON.parse(block) as { generates: Record<string, { plugins: string[] }> };
  // The one plugin that generateTypes runs for operations.
  expect(Object.values(generates)).toEqual([{ plugins: ["typescript-operations"] }]);
  const { ofOperations } = await generateTypes();
  expect(await compile(ofOperations + usage)).toBe("");
});
