// Runs the examples of the documents like a reader, on one store of `npm start`.
import { choosePort } from "@petstore/embedded-postgres";
import { shared } from "@petstore/harness";
import {
  markedCommands,
  missingPrograms,
  runCommands,
  runModule,
  runPython,
  type Snippet,
  snippetsOf,
  startStandaloneStore,
} from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { describe, expect, it } from "vitest";
import { standaloneMain } from "../programs.js";

const store = await shared(startStandaloneStore(standaloneMain));
const database = await shared(openStoreDatabase(store.databaseUrl));

/** The output of each block of each document. The README comes first, because it shows the first pet of a new store. */
const documents: readonly [path: string, printed: readonly RegExp[]][] = [
  [
    "README.md",
    [
      /^HTTP\/1.1 201 Created\r\n.*X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 59\r\nX-RateLimit-Reset: \d+\r\n.*{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}$/s,
      /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: 57\r\n.*{"data":{"pets":\[{"id":"1","categoryId":"9007199254740993"}\],"sold":\[\]},"extensions":{"cost":2}}$/s,
    ],
  ],
  [
    "packages/client/README.md",
    [
      /^9007199254740993 Rex\n1 Rex\n/,
      /^\d+\n$/,
      /^The API key ends on \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\n$/,
      /^PET_NOT_FOUND \n$/,
    ],
  ],
  [
    "services/rest/docs/quickstart.md",
    [
      /"name":"Rex","categoryId":9007199254740993,"status":"available"}/,
      /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: \d+.*\[{"id":1/s,
      /^{"id":\d+,"name":"Ada",.*}\n\[{"id":1,/,
      /^{'id': \d+, 'name': 'Ada', .*}\n1 Rex\n/,
      /^\d+ Bo\n1 Rex\n/,
    ],
  ],
  [
    "services/rest/docs/limits.md",
    [
      /^{"plan":"free","minute":{"limit":60,"used":\d+,"remaining":\d+,"reset":\d+},"day":{.*},"bannedUntil":null,"key":{"prefix":"pets_live_\w{8}","name":null,"scope":"both","expiresAt":"[\d-]{10}T[\d:.]{12}Z"},"account":{"name":"account \w+","plan":"free"}}$/,
      /^{"hours":\["20\S+:00:00Z",.*\],"days":\["20\d\d-\d\d-\d\d",.*\],"series":\[.*\]}$/,
    ],
  ],
  ["services/rest/docs/get-pet-removal.md", [/^Rex\n$/]],
  [
    "services/graphql/docs/quickstart.md",
    [
      ...Array<RegExp>(3).fill(
        /^{"data":{"createPet":{"id":"\d+","name":"Rex","categoryId":"9007199254740993"}},"extensions":{"cost":1}}\n?$/,
      ),
      /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: \d+.*{"petsConnection":{"nodes":\[{"id":"1","name":"Rex"}/s,
      /"path":\["bo"\].*"data":{"rex":{"id":"\d+"},"bo":null}/,
    ],
  ],
];

it.each(documents)("%s shows the output of its examples", async (path, printed) => {
  const snippets = await snippetsOf(path);
  expect(snippets).toHaveLength(printed.length);
  // The examples also show the end of their key.
  const { key } = await database.issueKey({ plan: "free", expiresAt: new Date(Date.now() + 20 * 86_400_000) });
  for (const [index, snippet] of snippets.entries()) {
    if (snippet.language === "py" && missingPrograms(["python3"]).length > 0) continue;
    expect(await run(snippet, { API_KEY: key })).toMatch(printed[index] ?? /^$/);
  }
});

const guide = "tools/deploy/operations.md";

describe("the operations guide", () => {
  it("creates an account, issues and rotates its keys, and shows its usage", async () => {
    const code = await markedCommands(guide, "accounts");
    expect(await run({ language: "sh", code }, {})).toMatch(/shop.*pets_live_\w+.*pets_live_\w+/s);
  });

  it("lists accounts as JSON alone, so that another program can read it", async () => {
    const output = await run({ language: "sh", code: "node tools/admin/bin/petstore.mjs account list --json" }, {});
    expect(JSON.parse(output)).toEqual(expect.arrayContaining([expect.objectContaining({ name: "shop" })]));
  });

  it("starts both APIs with an existing PostgreSQL and Redis", { tags: ["redis-server"] }, async () => {
    await using redis = await openRedisServer();
    const [restPort, graphqlPort] = [await choosePort(undefined), await choosePort(undefined)];
    const replacements = [
      // The test runs on the built output of this repository.
      ["npm run build", ""],
      ["postgres://petstore_service:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      // All migrations have run, so the role of the services is enough here.
      ["postgres://petstore:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      ["rediss://:password@host:6379", redis.url],
      ["PORT=3001", `PORT=${graphqlPort}`],
    ] as const;
    let code = await markedCommands(guide, "processes");
    for (const [placeholder, value] of replacements) {
      expect(code).toContain(placeholder);
      code = code.replace(placeholder, value);
    }
    const script = [
      // Ends the processes even if a command fails.
      "started=; trap 'kill $started; wait' EXIT",
      code.replaceAll(/ &$/gm, ' & started="$started $!"'),
      ...[restPort, graphqlPort].map(
        (port) => `for i in $(seq 150); do curl -sf http://127.0.0.1:${port}/readyz && break; sleep 0.2; done`,
      ),
    ];
    const output = await run({ language: "sh", code: script.join("\n") }, { PORT: `${restPort}` });
    expect(output).not.toContain("degraded");
    expect(output.match(/"status":"ready"/g)).toHaveLength(2);
  });
});

function run({ language, code }: Snippet, environment: Readonly<Record<string, string>>): Promise<string> {
  const ownCode = code.replaceAll("http://127.0.0.1:3000", store.origin);
  const env = {
    // biome-ignore lint/style/noProcessEnv: the examples run curl and node.
    PATH: process.env.PATH,
    BASE_URL: `${store.origin}/v1`,
    GRAPHQL_URL: `${store.origin}/graphql`,
    PETSTORE_DIR: store.directory,
    ...environment,
  };
  switch (language) {
    case "sh":
      return runCommands(ownCode, env);
    case "js":
      return runModule(ownCode, env, new URL("../dist/", import.meta.url));
    case "py":
      return runPython(ownCode, env);
  }
}
