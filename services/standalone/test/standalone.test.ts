import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { choosePort, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import {
  openTemporaryDirectory,
  type Program,
  startStandaloneProgram,
  startStandaloneStoreIn,
} from "@petstore/harness/processes";
import { Client } from "pg";
import { describe, expect, it } from "vitest";

const shell = promisify(execFile);

describe("the standalone store", () => {
  it("prints the demo key and curl lines that work as they stand, at the first start only", async () => {
    await using directory = await openTemporaryDirectory();
    const first = await startStandaloneStoreIn(directory.path);
    const key = first.demoKey;
    const [text] = await first.printed(/curl .*graphql$/s);
    const [createLine = "", listLine = "", graphqlLine = ""] = text.match(/curl (?:.*\\\n)*.*/g) ?? [];
    expect(JSON.parse((await shell("sh", ["-c", createLine])).stdout)).toEqual({
      id: 1,
      name: "Rex",
      categoryId: 1,
      status: "available",
    });
    const answer = (await shell("sh", ["-c", listLine])).stdout;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain("X-RateLimit-Limit: 60");
    expect(answer).toContain('[{"id":1,"name":"Rex","categoryId":1,"status":"available"}]');
    const asked = (await shell("sh", ["-c", graphqlLine])).stdout;
    expect(asked).toContain("X-RateLimit-Remaining: 57");
    expect(asked).toContain('{"data":{"pets":[{"id":"1","name":"Rex","categoryId":"1","status":"available"}]}');
    await stop(first);

    const second = await startStandaloneStoreIn(directory.path);
    expect(second.output.join()).not.toContain("pets_test_");
    expect(await (await list(second.origin, key)).text()).toContain('"name":"Rex"');
    await stop(second);
  });

  it("stops within 5 seconds of Ctrl-C, with exit code 0 and no database left behind", async () => {
    await using directory = await openTemporaryDirectory();
    const store = await startStandaloneStoreIn(directory.path);
    expect(await embeddedPostgresUrl(directory.path)).toBeDefined();
    const startedAtMs = performance.now();
    store.signal("SIGINT");
    expect(await store.ended).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    expect(await embeddedPostgresUrl(directory.path)).toBeUndefined();
  });

  it("serves and stops when nobody reads what it prints", { timeout: 60_000 }, async () => {
    await using directory = await openTemporaryDirectory();
    const port = await choosePort(undefined);
    const store = startStandaloneProgram(directory.path, { PORT: `${port}`, LOG_LEVEL: "info" });
    store.stdout?.destroy();
    store.stderr?.destroy();
    await store.until(() => isAnswering(`http://127.0.0.1:${port}/readyz`));
    await stop(store);
  });

  it("refuses a second start on the same data in one line that names the first", async () => {
    await using directory = await openTemporaryDirectory();
    const first = await startStandaloneStoreIn(directory.path);
    const second = startStandaloneProgram(directory.path);
    expect(await second.ended).toBe(1);
    expect(second.output).toEqual([`The pet store of ${directory.path} is already running, as process ${first.pid}.`]);
    await stop(first);
  });

  it("keeps every acknowledged pet when it is killed, and adopts the database it left", {
    timeout: 60_000,
  }, async () => {
    await using directory = await openTemporaryDirectory();
    let store = await startStandaloneStoreIn(directory.path);
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
      store = await startStandaloneStoreIn(directory.path);
    }
    const stored = (await (await list(store.origin, key)).json()) as { id: number }[];
    expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
    expect(acknowledged.length).toBeGreaterThan(0);
    await stop(store);
  });

  it("says in one line which port is taken", async () => {
    await using directory = await openTemporaryDirectory();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const store = startStandaloneProgram(directory.path, { PORT: `${port}` });
    expect(await store.ended).toBe(1);
    expect(store.output).toEqual([expect.stringMatching(`^Cannot listen on 127.0.0.1 port ${port}: `)]);
    other.close();
  });

  it.runIf(process.getuid?.() === 0)("warns root, and refuses to serve other machines as root", async () => {
    await using directory = await openTemporaryDirectory();
    const refused = startStandaloneProgram(directory.path, { HOST: "0.0.0.0" });
    expect(await refused.ended).toBe(1);
    expect(refused.output).toEqual([
      "The pet store does not listen on 0.0.0.0 as root: start it as another user, or leave HOST out.",
    ]);
    const store = await startStandaloneStoreIn(directory.path);
    expect(store.output.join("\n")).toContain("Warning: the pet store runs as root");
    await stop(store);
  });

  it("serves with a database role that can change no table", async () => {
    await using directory = await openTemporaryDirectory();
    const store = await startStandaloneStoreIn(directory.path);
    const url = store.databaseUrl;
    expect(new URL(url).username).toBe("petstore_service");
    const client = new Client({ connectionString: url });
    await client.connect();
    for (const change of ["create table mine (id int)", "alter table pets add column more int", "create role mine"]) {
      await expect(client.query(change), change).rejects.toMatchObject({ code: "42501" });
    }
    await client.end();
    await stop(store);
  });

  it("reports every fault of its configuration before it starts anything", async () => {
    await using directory = await openTemporaryDirectory();
    const store = startStandaloneProgram(directory.path, { PORT: "many", LOG_LEVEL: "loud" });
    expect(await store.ended).toBe(1);
    expect(store.output.join("\n")).toMatch(/PORT must.*\n.*LOG_LEVEL must/);
    expect(await embeddedPostgresUrl(directory.path)).toBeUndefined();
  });
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

async function stop(store: Program): Promise<void> {
  expect(await store.stop()).toBe(0);
}
