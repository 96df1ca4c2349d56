import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { shared } from "@petstore/harness";
import { openHttpClient, openTraceReceiver } from "@petstore/harness/network";
import { query } from "@petstore/harness/postgres";
import { openTemporaryDirectory, startStandaloneProgram, startStandaloneStoreIn } from "@petstore/harness/processes";
import { describe, expect, test } from "vitest";

const main = new URL("../dist/main.js", import.meta.url);
const shell = promisify(execFile);

const it = test.extend<{ directory: string }>({
  directory: async ({ task: _ }, use) => {
    await using directory = await openTemporaryDirectory();
    await use(directory.path);
  },
});

it("prints the demo key and curl lines that work as they stand, at the first start only, then how to issue a test key, and warns root", async ({
  directory,
}) => {
  const first = await startStandaloneStoreIn(main, directory);
  const isRoot = process.getuid?.() === 0;
  expect(first.output.join("\n").includes("Warning: the pet store runs as root")).toBe(isRoot);
  const key = first.demoKey;
  const [text] = await first.printed(/curl .*graphql$/s);
  const [createLine = "", listLine = "", graphqlLine = ""] = text.match(/curl (?:.*\\\n)*.*/g) ?? [];
  const rex = { id: 1, name: "Rex", categoryId: 1, status: "available" };
  expect(JSON.parse((await shell("sh", ["-c", createLine])).stdout)).toEqual(rex);
  const answer = (await shell("sh", ["-c", listLine])).stdout;
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(answer).toContain("X-RateLimit-Limit: 60");
  expect(answer).toContain(JSON.stringify([rex]));
  const asked = (await shell("sh", ["-c", graphqlLine])).stdout;
  // Both APIs count in one quota.
  expect(asked).toContain("X-RateLimit-Remaining: 57");
  expect(asked).toContain('{"data":{"pets":[{"id":"1","name":"Rex","categoryId":"1","status":"available"}]}');
  expect(await first.stop()).toBe(0);

  await using second = await startStandaloneStoreIn(main, directory);
  expect(second.output.join()).not.toContain("pets_test_");
  // The key of the first start was a test key.
  expect(key).toMatch(/^pets_test_/);
  expect(second.output.join("\n")).toMatch(/^ +node tools\/admin\/bin\/petstore\.mjs key issue demo --test$/m);
  using client = openHttpClient(second.origin);
  expect((await client.send("GET", "/v1/pets", { key })).json).toEqual([rex]);
});

it("stops with exit code 0 although a receiver of traces does not answer", async ({ directory }) => {
  await using receiver = await openTraceReceiver(0);
  const store = await startStandaloneStoreIn(main, directory, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await fetch(`${store.origin}/v1/pets`);
  expect(await store.stop()).toBe(0);
});

describe("a running store", async () => {
  const { path } = await shared(openTemporaryDirectory());
  const store = await shared(startStandaloneStoreIn(main, path));

  it("refuses a second start on the same data in one line that names the first", async () => {
    const second = startStandaloneProgram(main, path);
    expect(await second.ended).toBe(1);
    expect(second.output).toEqual([
      `The pet store of ${path} is already running, as process ${store.pid}: kill ${store.pid} stops it.`,
    ]);
  });

  it("serves with the database role that can change no table", async () => {
    const roles = await query(
      store.databaseUrl,
      `select distinct usename from pg_stat_activity where backend_type = 'client backend'
       and datname = 'petstore' and pid <> pg_backend_pid() and application_name not like 'petstore owner%'`,
    );
    expect(roles).toEqual([{ usename: "petstore_service" }]);
  });
});

it("keeps every acknowledged pet when it is killed, and adopts the database it left", {
  timeout: 240_000,
}, async ({ directory }) => {
  let store = await startStandaloneStoreIn(main, directory);
  const key = store.demoKey;
  const acknowledged: unknown[] = [];
  for (let round = 0; round < 3; round++) {
    using client = openHttpClient(store.origin);
    let answers = 0;
    const creating = Array.from({ length: 8 }, async (_, index) => {
      const body = `{"name":"${round}-${index}","categoryId":1}`;
      const { status, json } = await client.send("POST", "/v1/pets", { key, body });
      if (status !== 201) return;
      acknowledged.push(json);
      answers += 1;
      if (answers === round) void store.kill();
    });
    if (round === 0) void store.kill();
    await Promise.allSettled(creating);
    await store.ended;
    store = await startStandaloneStoreIn(main, directory);
  }
  using client = openHttpClient(store.origin);
  const { json: stored } = await client.send("GET", "/v1/pets?limit=100", { key });
  expect(acknowledged).not.toEqual([]);
  expect(stored).toEqual(expect.arrayContaining(acknowledged));
  expect(await store.stop()).toBe(0);
});
