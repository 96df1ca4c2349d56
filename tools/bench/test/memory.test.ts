import { expect, test } from "vitest";
import { restRequests } from "../src/load/rest-requests.js";
import { measureMemory } from "../src/memory.js";
import { openServer } from "../src/servers/server.js";

test("a server that keeps 5,000 bytes of every request has grown by about as much", async () => {
  const [keptBytes, requests] = [5_000, 20_000];
  const main = new URL("./keeping-server.mjs", import.meta.url);
  const environment = { KEPT_BYTES: `${keptBytes}` };
  await using server = await openServer({ name: "The server", main, environment });
  const loaded = { ...server, operations: [restRequests.create], apiKeys: [] };
  const { signal } = new AbortController();
  const memory = await measureMemory(loaded, { seconds: 0.2, requests, signal });
  const { startMebibytes = 0, at512Mebibytes, liveGrownMebibytes } = memory;
  const keptMebibytes = (keptBytes * requests) / 2 ** 20;
  // 95 MiB: connections that a busy machine has not yet closed are a small part of it.
  expect(liveGrownMebibytes).toBeGreaterThan(keptMebibytes * 0.7);
  expect(liveGrownMebibytes).toBeLessThan(keptMebibytes * 1.5);
  expect(startMebibytes).toBeGreaterThan(20);
  expect(at512Mebibytes).toBeGreaterThan(startMebibytes);
});
