import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

// Built, as the processes that they start are.
const dist = (name: string) => new URL(`../dist/${name}.js`, import.meta.url).href;
const { openLoadGenerator }: typeof import("../src/load-generator.js") = await import(dist("load-generator"));
const { openServer }: typeof import("../src/server.js") = await import(dist("server"));
const { measureMemoryRound }: typeof import("../src/memory/memory-round.js") = await import(
  dist("memory/memory-round")
);

async function measure(program: string, requests = 20_000) {
  const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
  const { signal } = new AbortController();
  try {
    await using server = await openServer(
      { name: program, main: new URL(`./memory/${program}.mjs`, import.meta.url) },
      { databaseUrl: "postgres://unused", redisUrl: undefined, directory, signal },
    );
    await using generator = openLoadGenerator(signal);
    const request = { method: "GET", path: "/", headers: {} } as const;
    const work = { parts: [{ share: 1, requests: [request] }], apiKeys: [] };
    return await measureMemoryRound(server, generator, work, { seconds: 0.2, requests });
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("a server that lets go of every request has not grown, and holds more under load than at its start", async () => {
  const round = await measure("modest", 5_000);
  expect(round.liveGrownMebibytes).toBeLessThan(1);
  expect(round.startMebibytes).toBeGreaterThan(20);
  expect(round.at32Mebibytes).toBeGreaterThan(round.startMebibytes);
  expect(round.at512Mebibytes).toBeGreaterThan(round.startMebibytes);
});

test("a server that keeps 500 bytes of every request has grown by as much, in what is live and in RSS", async () => {
  const { liveGrownMebibytes, grownMebibytes } = await measure("hoarder");
  const kept = (20_000 * 500) / 2 ** 20;
  expect(liveGrownMebibytes).toBeGreaterThan(kept);
  expect(liveGrownMebibytes).toBeLessThan(kept * 1.5);
  expect(grownMebibytes).toBeGreaterThan(5);
});

test("a server that refuses is an error, with what it said", async () => {
  await expect(measure("refuser")).rejects.toThrow("refuser did not answer every request: status 503 too busy");
});
