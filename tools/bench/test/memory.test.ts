import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { expect, test } from "vitest";
import { checkOpenFiles, idle } from "../src/idle.js";
import { measureMemory } from "../src/memory.js";
import { pagesBenchmark } from "../src/scalability.js";
import { startProbedProgram } from "../src/servers/probed-program.js";
import { soakBenchmark } from "../src/soak.js";
import { judgeTargets } from "../src/target.js";

const { signal } = new AbortController();
const deps = { signal, progress() {} };

test("a server that keeps nothing of a request has not grown", async () => {
  const { startMebibytes = Number.NaN, at512Mebibytes, liveGrownMebibytes } = await measure(0, 5_000);
  expect(liveGrownMebibytes).toBeLessThan(1);
  expect(startMebibytes).toBeGreaterThan(20);
  expect(at512Mebibytes).toBeGreaterThan(startMebibytes);
});

test("a server that keeps 500 bytes of every request has grown by as much", async () => {
  const { liveGrownMebibytes, grownMebibytes } = await measure(500, 20_000);
  const kept = (20_000 * 500) / 2 ** 20;
  expect(liveGrownMebibytes).toBeGreaterThan(kept);
  expect(liveGrownMebibytes).toBeLessThan(kept * 1.5);
  expect(grownMebibytes).toBeGreaterThan(5);
});

describeWithRedis("scalability", () => {
  test("soak finds a planted leak", async () => {
    const soak = soakBenchmark(20_000);
    const tables = await soak.run({ rounds: 1, seconds: 3, connections: [16] }, deps);
    for (const { ratio, met } of judgeTargets(soak, tables)) {
      expect(met).toBe(false);
      expect(ratio.median).toBeGreaterThan(15_000);
      expect(ratio.median).toBeLessThan(30_000);
    }
    expect(judgeTargets(soak, tables)).toHaveLength(2);
  });

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

test("too low a limit of open files is an error with both ways out", () => {
  expect(() => checkOpenFiles(10_000, 10_200)).not.toThrow();
  expect(() => checkOpenFiles(10_000, 10_199)).toThrow(
    "10000 idle connections need 10200 open files in one process, and this shell allows 10199: " +
      "raise the limit with ulimit -Hn 10200 as root, or use --connections 9999",
  );
  expect(() => checkOpenFiles(1)).not.toThrow();
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
