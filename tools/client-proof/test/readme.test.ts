// Runs the commands of the README and of the operations guide, in their order, on a store that was just started.
import { readFile } from "node:fs/promises";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/harness";
import { markedSnippet, runSnippet, type Snippet, snippetsOf, startStandaloneStore } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { afterAll, describe, expect, it } from "vitest";

const store = await startStandaloneStore();
afterAll(() => store[Symbol.asyncDispose]());

const snippets = await snippetsOf("README.md");

/** The output of each block of the README. */
const outputs: readonly RegExp[] = [
  /^HTTP\/1.1 201 Created\r\n.*X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 59\r\nX-RateLimit-Reset: \d+\r\n.*{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}$/s,
  /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: 57\r\n.*{"data":{"pets":\[{"id":"1","categoryId":"9007199254740993"}\],"sold":\[\]},"extensions":{"cost":2}}$/s,
];

describe("README.md", () => {
  it("has at most 150 lines, and no block of commands that is not run here", async () => {
    const text = await readFile(new URL("../../../README.md", import.meta.url), "utf8");
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(150);
    expect(snippets).toHaveLength(outputs.length);
  });

  it.each(outputs.map((pattern, index) => [index + 1, pattern] as const))(
    "shows the response of block %i",
    async (n, pattern) => {
      const snippet = snippets[n - 1];
      if (snippet === undefined) throw new Error("The README has fewer blocks");
      expect(await run(snippet, {})).toMatch(pattern);
    },
  );
});

const guide = "tools/deploy/operations.md";

describe("the operations guide", () => {
  it("creates an account, issues and rotates its keys, and shows its usage", async () => {
    expect(await run(await markedSnippet(guide, "accounts"), {})).toMatch(/shop.*pets_live_\w+.*pets_live_\w+/s);
  });
});

describeWithRedis("the operations guide, with Redis", () => {
  it("starts both APIs with an existing PostgreSQL and Redis", async () => {
    await using redis = await openRedisServer();
    const [restPort, graphqlPort] = [await choosePort(undefined), await choosePort(undefined)];
    const replacements = [
      ["postgres://petstore_service:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      // All migrations have run, so the role of the services is enough here.
      ["postgres://petstore:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      ["rediss://:password@host:6379", redis.url],
      ["PORT=3001", `PORT=${graphqlPort}`],
    ] as const;
    const code = replacements.reduce(
      (text, [placeholder, value]) => replaced(text, placeholder, value),
      (await markedSnippet(guide, "processes")).code,
    );
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

function run(snippet: Snippet, environment: Readonly<Record<string, string>>): Promise<string> {
  const code = snippet.code.replaceAll("http://127.0.0.1:3000", store.origin);
  const env = {
    PATH: process.env.PATH,
    BASE_URL: `${store.origin}/v1`,
    API_KEY: store.demoKey,
    PETSTORE_DIR: store.directory,
    ...environment,
  };
  return runSnippet({ ...snippet, code }, { env, folder: new URL("../dist/", import.meta.url) });
}

function replaced(text: string, placeholder: string, value: string): string {
  expect(text).toContain(placeholder);
  return text.replace(placeholder, value);
}
