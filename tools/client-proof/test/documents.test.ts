import { createPetStoreClient } from "@petstore/client";
import { runSnippet, snippetsOf } from "@petstore/harness/snippets";
import { afterAll, describe, expect, it } from "vitest";
import { openRealStore } from "../src/real-store.js";
import { startService } from "../src/service-process.js";

const store = await openRealStore();
const service = await startService(store.databaseUrl);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});
const folder = new URL("../dist/", import.meta.url);
const environment = { BASE_URL: `${service.origin}/v1`, API_KEY: await store.issueKey() };

// What the examples find: the first pet, whichever of them runs first.
const { pets } = createPetStoreClient({ baseUrl: environment.BASE_URL, apiKey: environment.API_KEY });
await pets.create({ name: "Rex", categoryId: 1 });

/** How many blocks each document has, and what they print, in their order. */
const documents: [path: string, printed: readonly RegExp[]][] = [
  ["packages/client/README.md", [/^9007199254740993 Rex\n1 Rex\n/, /^PET_NOT_FOUND \n$/]],
  [
    "services/rest/docs/quickstart.md",
    [
      /"name":"Rex","categoryId":9007199254740993,"status":"available"}/,
      /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: \d+.*\[{"id":1/s,
      /^201 {"id":\d+,"name":"Ada","categoryId":7,"status":"available"}\n200 \d+ of 60 requests remain\n$/,
      /^\d+ Bo\n1 Rex\n/,
    ],
  ],
  [
    "services/rest/docs/limits.md",
    [/^X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: \d+\r\nX-RateLimit-Reset: \d+\r\n$/],
  ],
  ["services/rest/docs/get-pet-removal.md", [/^\[{"id":1,/, /^Rex\n$/]],
];

describe.each(documents)("%s", (path, printed) => {
  it("says what its examples do", async () => {
    const snippets = await snippetsOf(path);
    expect(snippets).toHaveLength(printed.length);
    for (const [index, snippet] of snippets.entries()) {
      expect(await runSnippet(snippet, { env: { PATH: process.env.PATH, ...environment }, folder })).toMatch(
        printed[index] ?? /^$/,
      );
    }
  });
});
