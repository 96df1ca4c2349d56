// @module-tag redis-server
// The usage history has the units that the clients of several processes see, also if one of the processes is killed.
import { shared } from "@petstore/harness";
import { type HttpAnswer, type HttpClient, openHttpClient } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openRunningStore } from "./running-store.js";

const names = ["rest", "rest", "graphql", "graphql"] as const;
const store = await shared(openRunningStore({ services: names }));
const { database, services } = store;
/** The day is the window with the fewest units left, so all responses show it. */
const limits = { perMinute: 1_000_000, perDay: 100_000 };

type Send = (key: string) => Promise<HttpAnswer>;

/** Requests of each API, and the units that each one costs. */
function requestsOf({ send }: HttpClient, name: "rest" | "graphql"): readonly (readonly [units: number, send: Send])[] {
  if (name === "rest") {
    return [
      [1, (key) => send("GET", "/v1/pets", { key })],
      [1, (key) => send("GET", "/v1/pets/1", { key })],
      [1, (key) => send("GET", "/v1/none", { key })],
      [1, (key) => send("POST", "/v1/pets", { key, body: '{"name":"Rex","categoryId":1}' })],
      [0, (key) => send("GET", "/rate_limit", { key })],
    ];
  }
  const query = (text: string) => (key: string) => send("POST", "/graphql", { key, body: bodyOf(text) });
  return [
    [1, query("{ pets { id } }")],
    [4, query("{ a: pets { id } b: pets { id } c: pets { id } d: pets { id } }")],
    [2, query(`mutation { a: ${createOf("")} b: ${createOf("Rex")} }`)],
    // Refused after its admission: not a document, and more root fields than an operation may have.
    [1, query("{")],
    [1, query(`{ ${Array.from({ length: 11 }, (_, index) => `f${index}: pets { id }`).join(" ")} }`)],
  ];
}

const bodyOf = (query: string) => JSON.stringify({ query });
const createOf = (name: string) => `createPet(input: { name: "${name}", categoryId: "1" }) { id }`;

/** Sends every request of the process `rounds` times with the key. Returns the units that they cost. */
async function sendMix(index: number, key: string, rounds: number): Promise<number> {
  const service = services[index];
  const name = names[index];
  if (service === undefined || name === undefined) throw new Error("there is no such service");
  using client = openHttpClient(service.origin);
  let units = 0;
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      requestsOf(client, name).map(async ([cost, send]) => {
        expect([429, 500, 503]).not.toContain((await send(key)).status);
        units += cost;
      }),
    );
  }
  return units;
}

async function storedOf(keyId: bigint): Promise<{ admitted: number; refused: number }> {
  const [stored] = await database.execute(
    `select coalesce(sum(admitted), 0)::integer as admitted, coalesce(sum(refused), 0)::integer as refused
     from usage_hours where key_id = ${keyId}`,
  );
  return stored as { admitted: number; refused: number };
}

const withinAWrite = { timeout: 60_000, interval: 200 };

it("counts one refused request for each 429 of either API, and the units that were taken before", async () => {
  const { key, keyId } = await database.issueKey({ customLimits: { perMinute: 6, perDay: 1_000 } });
  using rest = openHttpClient(store.originOf("rest"));
  using graphql = openHttpClient(store.originOf("graphql"));
  const fourFields = bodyOf("{ a: pets { id } b: pets { id } c: pets { id } d: pets { id } }");
  const statuses: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    statuses.push((await rest.send("GET", "/v1/pets", { key })).status);
    statuses.push((await graphql.send("POST", "/graphql", { key, body: fourFields })).status);
  }
  const refused = statuses.filter((status) => status === 429).length;
  expect(refused).toBeGreaterThan(0);
  const { day } = (await rest.send("GET", "/rate_limit", { key })).json as { day: { used: number } };
  await expect.poll(() => storedOf(keyId), withinAWrite).toEqual({ admitted: day.used, refused });
});

it("counts what the responses of four processes say, and loses only what a killed one has not written", async () => {
  const first = await database.issueKey({ customLimits: limits });
  const { accountId } = first;
  /** One key for each process. */
  const keys = [first, ...(await Promise.all([1, 2, 3].map(() => database.issueKey({ accountId }))))];
  const sendAll = (rounds: number) => Promise.all(keys.map(({ key }, index) => sendMix(index, key, rounds)));
  const storedOfAll = async () =>
    (await Promise.all(keys.map(({ keyId }) => storedOf(keyId)))).map((row) => row.admitted);

  const before = await sendAll(10);
  await expect.poll(storedOfAll, withinAWrite).toEqual(before);
  using client = openHttpClient(store.originOf("rest"));
  const { rateLimit } = await client.send("GET", "/v1/none", { key: first.key });
  const seen = rateLimit.limit - rateLimit.remaining;
  expect(seen).toBe(before.reduce((sum, units) => sum + units, 0) + 1);

  const after = await sendAll(3);
  const [killed, ...survivors] = services;
  await killed?.kill();
  // SIGTERM: a process writes its counts before it ends.
  expect(await Promise.all(survivors.map((service) => service.stop()))).toEqual([0, 0, 0]);
  const [ofKilled = 0, ...ofSurvivors] = await storedOfAll();
  expect(ofSurvivors).toEqual(before.slice(1).map((units, index) => units + (after[index + 1] ?? 0)));
  expect(ofKilled).toBeGreaterThanOrEqual(before[0] ?? 0);
  expect(ofKilled).toBeLessThanOrEqual((before[0] ?? 0) + 1 + (after[0] ?? 0));
  const operations = await database.execute(
    `select distinct api, operation from usage_hours join api_keys on api_keys.id = key_id
     where account_id = ${accountId} order by 1, 2`,
  );
  expect(operations).toEqual([
    { api: "graphql", operation: "" },
    { api: "rest", operation: "" },
    { api: "rest", operation: "getPet" },
  ]);
});
