import { readFile } from "node:fs/promises";
import { runSnippet, snippetsOf } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { openRunningStore } from "../running-store.js";
import { compile, generateTypes, usage } from "./generated-types.js";

const path = "services/graphql/docs/quickstart.md";

/** The output of each block. */
const printed: readonly RegExp[] = [
  /^{"data":{"createPet":{"id":"1","name":"Rex","categoryId":"9007199254740993"}},"extensions":{"cost":1}}$/,
  /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: \d+.*{"petsConnection":{"nodes":\[{"id":"1","name":"Rex"}\]/s,
  /^Ada\nRex, Ada\nVALIDATION_FAILED first must be an integer from 1 to 100\n$/,
  /^1 Rex\nVALIDATION_FAILED \d+\n$/,
];

it("the quickstart of the GraphQL API shows the real output of its examples", async () => {
  await using store = await openRunningStore({ services: ["graphql"] });
  const GRAPHQL_URL = `${store.originOf("graphql")}/graphql`;
  // biome-ignore lint/style/noProcessEnv: the examples run curl and node.
  const env = { PATH: process.env.PATH, GRAPHQL_URL, API_KEY: (await store.database.issueKey()).key };
  const folder = new URL("../../dist/", import.meta.url);
  const snippets = await snippetsOf(path);
  expect(snippets).toHaveLength(printed.length);
  for (const [index, snippet] of snippets.entries()) {
    expect(await runSnippet(snippet, { env, folder })).toMatch(printed[index] ?? /^$/);
  }
});

it("the configuration of graphql-codegen in the quickstart generates types that compile", async () => {
  const text = await readFile(new URL(`../../../../${path}`, import.meta.url), "utf8");
  const [, block = ""] = /^```json\n(.*?)^```$/ms.exec(text) ?? [];
  const { generates } = JSON.parse(block) as { generates: Record<string, { plugins: string[] }> };
  // The one plugin that generateTypes runs for operations.
  expect(Object.values(generates)).toEqual([{ plugins: ["typescript-operations"] }]);
  const { ofOperations } = await generateTypes();
  expect(await compile(ofOperations + usage)).toBe("");
});
