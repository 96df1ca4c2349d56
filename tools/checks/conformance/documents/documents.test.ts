// Documents and variables that are cheap to send and expensive to parse, to validate or to execute.

import { openHttpClient } from "@petstore/harness/network";
import { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "@petstore/harness/responses";
import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../../src/it.js";
import { addPets, openRunningStore, type RunningStore } from "../running-store.js";

/** All other requests of the process wait for as long. */
const longestBlockMs = 50;
/** A document that blocks the process does so each time. A busy machine does not. */
const attempts = 10;

let store: RunningStore;
let send: (body: string) => Promise<string>;

beforeAll(async () => {
  store = await openRunningStore({ services: ["graphql"], isProbed: true });
  await store.database.execute(addPets(100, "🐈".repeat(255)));
  const key = (await store.database.issueKey()).key;
  const client = openHttpClient(store.originOf("graphql"));
  send = async (body) => {
    const { status, code } = await client.send("POST", "/graphql", { key, body });
    return code === undefined ? `${status}` : `${status} ${code}`;
  };
  // The first requests compile code.
  for (let index = 0; index < 20; index += 1) await send(`{"query":"{ pets { id } } #${index}"}`);
});
afterAll(() => store?.[Symbol.asyncDispose]());

for (const hostile of [...hostileDocuments, ...hostileVariables, ...dearDocuments]) {
  it(`${hostile.name}: blocks no process for ${longestBlockMs} ms`, async ({ figures }) => {
    const { blockMs, result } = await measure(hostile);
    expect(result).toMatch(/^(200|400|413)/);
    expect(store.services[0]?.hasEnded()).toBe(false);
    figures.atMost(longestBlockMs, "longest block", blockMs, "ms");
  });
}

/** The shortest of the longest blocks of all attempts. */
async function measure(hostile: Hostile): Promise<{ readonly blockMs: number; readonly result: string }> {
  const [service] = store.services;
  let blockMs = Number.POSITIVE_INFINITY;
  let result = "";
  for (let attempt = 0; attempt < attempts && blockMs >= longestBlockMs / 2; attempt += 1) {
    await service?.longestBlockMs();
    const body = hostile.write(`${attempt}`);
    result = await send(body);
    // A document that was executed before may take another path.
    await send(body);
    blockMs = Math.min(blockMs, (await service?.longestBlockMs()) ?? Number.NaN);
  }
  return { blockMs, result };
}
