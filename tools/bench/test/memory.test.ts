import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { expect, test } from "vitest";
import { measureMemory } from "../src/memory.js";
import { startProbedProgram } from "../src/servers/probed-program.js";

const { signal } = new AbortController();

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
