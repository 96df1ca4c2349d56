import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { expect, test } from "vitest";
import { idle } from "../src/idle.js";
import { measureMemory } from "../src/memory.js";
import { pagesBenchmark } from "../src/scalability.js";
import { startProbedProgram } from "../src/servers/probed-program.js";

const { signal } = new AbortController();
const deps = { signal, progress() {} };

test.each([
  [0, 5_000],
  [500, 20_000],
])("a server that keeps %i bytes of every request has grown by as much in %i requests", async (keptBytes, requests) => {
  const { startMebibytes = 0, at512Mebibytes, liveGrownMebibytes } = await measure(keptBytes, requests);
  const kept = (keptBytes * requests) / 2 ** 20;
  expect(liveGrownMebibytes).toBeGreaterThan(kept - 1);
  expect(liveGrownMebibytes).toBeLessThan(kept * 1.5 + 1);
  expect(startMebibytes).toBeGreaterThan(20);
  expect(at512Mebibytes).toBeGreaterThan(startMebibytes);
});

describeWithRedis("scalability", () => {
  test("idle holds its connections open", async () => {
    const [table] = await idle.run({ rounds: 1, seconds: 0.2, connections: [50] }, deps);
    for (const name of ["petstore-rest", "petstore-graphql"]) {
      expect(table?.rounds.get(name)).toEqual([expect.objectContaining({ lost: 0 })]);
    }
  });

  test("pages lists the right pets of far pages, by both kinds of plan", async () => {
    const pages = pagesBenchmark(20_000, 10);
    const tables = await pages.run({ rounds: 1, seconds: 0.2, connections: [4] }, deps);
    expect([...(tables[0]?.rounds.keys() ?? [])]).toHaveLength(9);
  });
});

async function measure(keptBytes: number, requests: number) {
  const port = `${await choosePort(undefined)}`;
  const origin = `http://127.0.0.1:${port}`;
  const main = new URL("./keeping-server.mjs", import.meta.url);
  const environment = { PORT: port, KEPT_BYTES: `${keptBytes}` };
  await using program = startProbedProgram({ name: "The server", main, environment });
  await program.until(() => isAnswering(origin));
  const operations = [{ request: { method: "GET", path: "/", headers: {} } }] as const;
  const server = { name: "The server", origin, program, parts: [{ share: 1, operations }], apiKeys: [] };
  return await measureMemory(server, { seconds: 0.2, requests }, signal);
}
