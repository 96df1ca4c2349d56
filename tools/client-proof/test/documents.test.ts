import { createPetStoreClient } from "@petstore/client";
import { runSnippet, snippetsOf } from "@petstore/harness/processes";
import { afterAll, describe, expect, it } from "vitest";
import { openRealStore } from "../src/real-store.js";

const store = await openRealStore();
afterAll(() => store[Symbol.asyncDispose]());
const folder = new URL("../dist/", import.meta.url);
const environment = {
  BASE_URL: store.baseUrl,
  API_KEY: (await store.database.issueKey({ plan: "free" })).key,
};

// The examples find this pet, in any order.
const { pets } = createPetStoreClient({ baseUrl: environment.BASE_URL, apiKey: environment.API_KEY });
await pets.create({ name: "Rex", categoryId: 1 });

/** The output of each block of each document. */
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
  it("shows the output of its examples", async () => {
    const snippets = await snippetsOf(path);
    expect(snippets).toHaveLength(printed.length);
    for (const [index, snippet] of snippets.entries()) {
      expect(await runSnippet(snippet, { env: { PATH: process.env.PATH, ...environment }, folder })).toMatch(
        printed[index] ?? /^$/,
      );
    }
  });
});
