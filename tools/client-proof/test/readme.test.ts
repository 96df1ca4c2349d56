// README's commands, in their order, on a store that was just started, as whoever reads it would run them.
import { readFile } from "node:fs/promises";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/testing";
import { openRedisServer } from "@petstore/testing/redis";
import { runSnippet, type Snippet, snippetsOf } from "@petstore/testing/snippets";
import { afterAll, describe, expect, it } from "vitest";
import { startStandalone } from "./standalone-store.js";

const store = await startStandalone();
afterAll(() => store[Symbol.asyncDispose]());

const snippets = await snippetsOf("README.md");
const ofManyProcesses = snippets.at(-1);

/** What the blocks print, in their order, but for the last one. */
const printed: readonly RegExp[] = [
  new RegExp(
    [
      /^HTTP\/1.1 201 Created\r\n.*X-RateLimit-Remaining: 59\r\n.*/,
      /{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}/,
      /HTTP\/1.1 200 OK\r\n.*X-RateLimit-Limit: 60\r\nX-RateLimit-Remaining: 58\r\nX-RateLimit-Reset: \d+\r\n.*/,
      /\[{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}\]$/,
    ]
      .map(({ source }) => source)
      .join(""),
    "s",
  ),
  /^HTTP\/1.1 200 OK\r\n.*X-RateLimit-Remaining: 56\r\n.*{"data":{"pets":\[{"id":"1","categoryId":"9007199254740993"}\],"sold":\[\]},"extensions":{"cost":2}}$/s,
  /^1 Rex\n2 Ada\n$/,
  /shop.*pets_live_\w+.*pets_live_\w+/s,
];

describe("README.md", () => {
  it("is short, and every block of commands in it is run here", async () => {
    const text = await readFile(new URL("../../../README.md", import.meta.url), "utf8");
    expect(text.split("\n").length - 1).toBeLessThanOrEqual(150);
    expect(snippets).toHaveLength(printed.length + 1);
  });

  it.each(printed.map((pattern, index) => [index + 1, pattern] as const))(
    "says what block %i does",
    async (n, pattern) => {
      expect(await run(snippets[n - 1], {})).toMatch(pattern);
    },
  );
});

describeWithRedis("README.md, with many processes", () => {
  it("starts both APIs over a PostgreSQL and a Redis of the reader's own", async () => {
    await using redis = await openRedisServer();
    const [restPort, graphqlPort] = [await choosePort(undefined), await choosePort(undefined)];
    const theirs = [
      ["postgres://petstore_service:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      // Nothing is left to migrate, which the role of the services may find out, too.
      ["postgres://petstore:password@host:5432/petstore?sslmode=verify-full", store.databaseUrl],
      ["rediss://:password@host:6379", redis.url],
      ["PORT=3001", `PORT=${graphqlPort}`],
    ] as const;
    const code = theirs.reduce(
      (text, [placeholder, own]) => replaced(text, placeholder, own),
      ofManyProcesses?.code ?? "",
    );
    const script = [
      // Whatever happens, nothing that it has started stays.
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

function run(snippet: Snippet | undefined, environment: Readonly<Record<string, string>>): Promise<string> {
  if (snippet === undefined) throw new Error("README has fewer blocks");
  const code = snippet.code.replaceAll("http://127.0.0.1:3000", store.origin);
  const env = {
    PATH: process.env.PATH,
    BASE_URL: `${store.origin}/v1`,
    API_KEY: store.apiKey,
    PETSTORE_DIR: store.directory,
    ...environment,
  };
  return runSnippet({ ...snippet, code }, { env, folder: new URL("../dist/", import.meta.url) });
}

function replaced(text: string, placeholder: string, own: string): string {
  expect(text).toContain(placeholder);
  return text.replace(placeholder, own);
}
