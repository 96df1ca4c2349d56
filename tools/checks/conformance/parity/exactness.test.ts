// Several processes of both services admit exactly the units of an account, with one call of Redis for each request.
import { describeWithRedis } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../../src/it.js";
import { openRunningStore, type RunningStore, type ServiceName } from "../running-store.js";

const limit = 1_000;
const requests = 10_000;
const concurrency = 200;
const services: readonly ServiceName[] = ["rest", "rest", "graphql", "graphql"];

interface Target {
  readonly origin: string;
  /** The document of a GraphQL request. A target without a document is the list of REST. */
  readonly query?: string;
}

/** How often each code was received; "success" for a response without one. */
type Counts = Readonly<Record<string, number>>;

describeWithRedis("four processes of both services", () => {
  let store: RunningStore;

  beforeAll(async () => {
    // The burst ignores refusals on purpose.
    store = await openRunningStore({ services, environment: { BAN_STRIKES: "0" } });
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it(`admit exactly ${limit} of ${requests} requests at once`, async ({ figures }) => {
    const targets = store.services.map(({ origin }, index): Target => {
      return services[index] === "rest" ? { origin } : { origin, query: "{ pets(limit: 1) { id name } }" };
    });
    // Opens the connections, and loads the script in each process.
    await sendBurst(targets, await newKey(1_000_000), 400, concurrency);
    const key = await newKey(limit);
    const before = await scriptCalls();
    const counts = await sendBurst(targets, key, requests, concurrency);
    const calls = (await scriptCalls()) - before;
    expect(counts).toEqual({ success: limit, DAILY_QUOTA_EXCEEDED: requests - limit });
    figures.atMost(requests, "calls of the script", calls);
    figures.atLeast(1, "calls of the script", calls);
  });

  it.for([
    ["a REST list", 1, undefined],
    ["a GraphQL operation of one root field", 1, "{ pets { id } }"],
    ["a GraphQL operation of three root fields", 2, "{ a: pets { id } b: pets { id } c: pets { id } }"],
  ] as const)("%s calls the script exactly %i times", async ([_what, times, query]) => {
    const key = await newKey(1_000_000);
    const before = await scriptCalls();
    const target =
      query === undefined ? { origin: store.originOf("rest") } : { origin: store.originOf("graphql"), query };
    expect(await sendBurst([target], key, 10, 1)).toEqual({ success: 10 });
    expect((await scriptCalls()) - before).toBe(10 * times);
  });

  /** The limit of the day is exact however long the requests take. */
  async function newKey(perDay: number): Promise<string> {
    return (await store.database.issueKey({ customLimits: { perMinute: 1_000_000, perDay } })).key;
  }

  /** The calls of EVALSHA so far, from `INFO commandstats`: `cmdstat_evalsha:calls=10000,usec=...`. */
  async function scriptCalls(): Promise<number> {
    const statistics = String(await store.redis?.command("INFO", "commandstats"));
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(statistics)?.[1] ?? 0);
  }
});

/** Sends `count` requests to the targets in turn, `atOnce` at a time, as fast as they are answered. */
async function sendBurst(targets: readonly Target[], key: string, count: number, atOnce: number): Promise<Counts> {
  const clients = targets.map(({ origin, query }) => ({ client: openHttpClient(origin), query }));
  const counts: Record<string, number> = {};
  let sent = 0;
  const sendInTurn = async (): Promise<void> => {
    while (sent < count) {
      const next = clients[sent++ % clients.length];
      if (next === undefined) throw new Error("the burst has no target");
      const { client, query } = next;
      const answer = await (query === undefined
        ? client.send("GET", "/v1/pets?limit=1", { key })
        : client.send("POST", "/graphql", { key, body: JSON.stringify({ query }) }));
      const code = answer.code ?? (answer.status === 200 ? "success" : answer.text);
      counts[code] = (counts[code] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  for (const { client } of clients) client[Symbol.dispose]();
  return counts;
}
