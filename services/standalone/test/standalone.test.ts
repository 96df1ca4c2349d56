import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { choosePort, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { openTemporaryDirectory, startStandaloneProgram, startStandaloneStoreIn } from "@petstore/harness/processes";
import { Client } from "pg";
import { expect, test } from "vitest";

const shell = promisify(execFile);

const it = test.extend<{ directory: string }>({
  directory: async ({ task: _ }, use) => {
    await using directory = await openTemporaryDirectory();
    await use(directory.path);
  },
});

it("prints the demo key and curl lines that work as they stand, at the first start only", async ({ directory }) => {
  const first = await startStandaloneStoreIn(directory);
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

  await using second = await startStandaloneStoreIn(directory);
  expect(second.output.join()).not.toContain("pets_test_");
  expect(await (await list(second.origin, key)).text()).toContain('"name":"Rex"');
});

it("stops within 5 seconds of Ctrl-C, with exit code 0 and no database left behind", async ({ directory }) => {
  const store = await startStandaloneStoreIn(directory);
  expect(await embeddedPostgresUrl(directory)).toBeDefined();
  const startedAtMs = performance.now();
  store.signal("SIGINT");
  expect(await store.ended).toBe(0);
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
  expect(await embeddedPostgresUrl(directory)).toBeUndefined();
});

it("serves and stops when nobody reads what it prints", { timeout: 60_000 }, async ({ directory }) => {
  const port = await choosePort(undefined);
  const store = startStandaloneProgram(directory, { PORT: `${port}`, LOG_LEVEL: "info" });
  store.stdout?.destroy();
  store.stderr?.destroy();
  await store.until(() => isAnswering(`http://127.0.0.1:${port}/readyz`));
  expect(await store.stop()).toBe(0);
});

it("refuses a second start on the same data in one line that names the first", async ({ directory }) => {
  await using first = await startStandaloneStoreIn(directory);
  const second = startStandaloneProgram(directory);
  expect(await second.ended).toBe(1);
  expect(second.output).toEqual([`The pet store of ${directory} is already running, as process ${first.pid}.`]);
});

it("keeps every acknowledged pet when it is killed, and adopts the database it left", {
  timeout: 60_000,
}, async ({ directory }) => {
  let store = await startStandaloneStoreIn(directory);
  const key = store.demoKey;
  const acknowledged: number[] = [];
  for (let round = 0; round < 5; round++) {
    let answers = 0;
    const creating = Array.from({ length: 8 }, async (_, index) => {
      acknowledged.push(await create(store.origin, key, `${round}-${index}`));
      answers += 1;
      if (answers === round) void store.kill();
    });
    if (round === 0) void store.kill();
    await Promise.allSettled(creating);
    await store.ended;
    store = await startStandaloneStoreIn(directory);
  }
  const stored = (await (await list(store.origin, key)).json()) as { id: number }[];
  expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(await store.stop()).toBe(0);
});

it("says in one line which port is taken", async ({ directory }) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const store = startStandaloneProgram(directory, { PORT: `${port}` });
  expect(await store.ended).toBe(1);
  expect(store.output).toEqual([expect.stringMatching(`^Cannot listen on 127.0.0.1 port ${port}: `)]);
  other.close();
});

it.runIf(process.getuid?.() === 0)("warns root", async ({ directory }) => {
  await using store = await startStandaloneStoreIn(directory);
  expect(store.output.join("\n")).toContain("Warning: the pet store runs as root");
});

it("serves with the database role that can change no table", async ({ directory }) => {
  await using store = await startStandaloneStoreIn(directory);
  const client = new Client({ connectionString: store.databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `select distinct usename from pg_stat_activity where backend_type = 'client backend'
     and datname = 'petstore' and pid <> pg_backend_pid() and application_name not like 'petstore owner%'`,
  );
  await client.end();
  expect(rows).toEqual([{ usename: "petstore_service" }]);
});

function list(origin: string, key: string): Promise<Response> {
  return fetch(`${origin}/v1/pets?limit=100`, { headers: { authorization: `Bearer ${key}` } });
}

async function create(origin: string, key: string, name: string): Promise<number> {
  const answer = await fetch(`${origin}/v1/pets`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
  if (answer.status !== 201) throw new Error(`answered ${answer.status}`);
  return ((await answer.json()) as { id: number }).id;
}
