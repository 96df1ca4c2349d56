// Several processes of both services admit exactly the units of an account, with one call of Redis for each request.
import { describeWithRedis } from "@petstore/harness";
import { Pool } from "undici";
import { afterAll, beforeAll, expect } from "vitest";
import { it } from "../../src/it.js";
import { openRunningStore, type RunningStore, type ServiceName, startWithinMinute } from "../running-store.js";

const limit = 1_000;
const requests = 10_000;
const concurrency = 200;
/** Enough for all requests on a busy machine. */
const burstMs = 25_000;
const services: readonly ServiceName[] = ["rest", "rest", "graphql", "graphql"];

interface Target {
  readonly origin: string;
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly body?: string;
}

interface Burst {
  /** How often each code was received; "success" for a response without one. */
  readonly counts: Readonly<Record<string, number>>;
  /** The windows that the responses describe, by X-RateLimit-Reset. */
  readonly resets: ReadonlySet<string>;
}

describeWithRedis("four processes of both services", () => {
  let store: RunningStore;

  beforeAll(async () => {
    // The burst ignores refusals on purpose.
    store = await openRunningStore({ services, environment: { BAN_STRIKES: "0" } });
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it(`admit exactly ${limit} of ${requests} requests at once`, async ({ figures }) => {
    const targets = store.services.map(({ origin }, index) =>
      services[index] === "rest" ? restList(origin) : graphqlQuery(origin, "{ pets(limit: 1) { id name } }"),
    );
    // Opens the connections, and loads the script in each process.
    await sendBurst(targets, await newKey(1_000_000), 400);
    let burst: Burst;
    let calls: number;
    let attempts = 0;
    do {
      attempts += 1;
      await startWithinMinute(burstMs);
      const key = await newKey(limit);
      calls = -(await scriptCalls());
      burst = await sendBurst(targets, key, requests);
      calls += await scriptCalls();
      // A burst that lasts longer than its minute uses the units of two minutes.
    } while (burst.resets.size > 1 && attempts < 3);
    expect(burst.counts).toEqual({ success: limit, RATE_LIMIT_EXCEEDED: requests - limit });
    figures.atMost(requests, "calls of the script", calls);
    figures.atLeast(1, "calls of the script", calls);
  });

  it.each([
    ["a REST list", 1, () => restList(store.originOf("rest"))],
    ["a GraphQL operation of one root field", 1, () => graphqlQuery(store.originOf("graphql"), "{ pets { id } }")],
    [
      "a GraphQL operation of three root fields",
      2,
      () => graphqlQuery(store.originOf("graphql"), "{ a: pets { id } b: pets { id } c: pets { id } }"),
    ],
  ] as const)("%s calls the script exactly %i times", async (_what, times, target) => {
    const key = await newKey(1_000_000);
    const before = await scriptCalls();
    const { counts } = await sendBurst([target()], key, 10, 1);
    expect(counts).toEqual({ success: 10 });
    expect((await scriptCalls()) - before).toBe(10 * times);
  });

  async function newKey(perMinute: number): Promise<string> {
    return (await store.database.issueKey({ customLimits: { perMinute, perDay: 1_000_000 } })).key;
  }

  /** The calls of EVALSHA so far, from `INFO commandstats`: `cmdstat_evalsha:calls=10000,usec=...`. */
  async function scriptCalls(): Promise<number> {
    const statistics = String(await store.redis?.command("INFO", "commandstats"));
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(statistics)?.[1] ?? 0);
  }
});

function restList(origin: string): Target {
  return { origin, path: "/v1/pets?limit=1", method: "GET" };
}

function graphqlQuery(origin: string, query: string): Target {
  return { origin, path: "/graphql", method: "POST", body: JSON.stringify({ query }) };
}

/** Sends the requests as fast as they are answered, to each target in turn. */
async function sendBurst(
  targets: readonly Target[],
  key: string,
  count: number,
  atOnce: number = concurrency,
): Promise<Burst> {
  const pools = targets.map(({ origin }) => new Pool(origin, { connections: Math.ceil(atOnce / targets.length) }));
  const counts: Record<string, number> = {};
  const resets = new Set<string>();
  let sent = 0;
  const sendNext = async (): Promise<void> => {
    while (sent < count) {
      const index = sent++ % targets.length;
      const [target, pool] = [targets[index], pools[index]];
      if (target === undefined || pool === undefined) throw new Error("the burst has no target");
      const { path, method, body } = target;
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const response = await pool.request({ path, method, headers, ...(body !== undefined && { body }) });
      const text = await response.body.text();
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? (response.statusCode === 200 ? "success" : text);
      counts[code] = (counts[code] ?? 0) + 1;
      resets.add(String(response.headers["x-ratelimit-reset"]));
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, sendNext));
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
  return { counts, resets };
}
