// Each pair of interfaces works on the same pets, idempotency keys and quotas.
import { describeWithRedis } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Api, Operation, Reply, Success } from "../apis/api.js";
import { openApis } from "../apis/open-apis.js";
import { addPets, newAddress, openRunningStore, type RunningStore } from "../running-store.js";

const input = '{"name":"Rex","categoryId":9007199254740993}';
const create: Operation = { kind: "create", input, idempotencyKey: "across" };
const list: Operation = { kind: "list", query: { limit: "1" } };
/** The connection only lists. */
const creating = ["REST", "GraphQL", "client"];
const listing = [...creating, "GraphQL connection"];
/** The field `pets` returns no cursor. */
const paging = ["REST", "GraphQL connection", "client"];

describeWithRedis("two interfaces", () => {
  let store: RunningStore;
  let apis: readonly Api[];

  beforeAll(async () => {
    store = await openRunningStore();
    apis = await openApis(store);
    await store.database.execute(addPets(12, "Rex"));
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it.each(pairs(creating, creating))("%s, then %s: both create one pet for one idempotency key", async (...names) => {
    const send = await openSenders(...names);
    const [created, replayed] = [await send.first(create), await send.second(create)];
    expect(petsOf(replayed)).toEqual(petsOf(created));
    expect([created, replayed].map(({ headers }) => headers["idempotency-replayed"])).toEqual([undefined, "true"]);
    const { outcome } = await send.second({ ...create, input: '{"name":"Max","categoryId":1}' });
    expect(outcome).toMatchObject({ kind: "failure", code: "IDEMPOTENCY_KEY_REUSED", status: 422 });
  });

  it.each(pairs(paging, listing))(
    "%s, then %s: a cursor of the first continues the list of the second",
    async (...names) => {
      const send = await openSenders(...names);
      const page = await send.first({ kind: "list", query: { limit: "4", status: '"available"' } });
      const cursor = JSON.stringify((page.outcome as Success).nextCursor);
      const next: Operation = { kind: "list", query: { limit: "3", status: '"available"', cursor } };
      const [expected, pets] = [petsOf(await send.first(next)), petsOf(await send.second(next))];
      expect(pets).toHaveLength(3);
      expect(pets).toEqual(expected);
      expect(BigInt(pets[0]?.id ?? 0)).toBeGreaterThan(BigInt(petsOf(page).at(-1)?.id ?? 0));
    },
  );

  it.each(pairs(listing, listing))("%s, then %s: both use one quota", async (...names) => {
    const send = await openSenders(...names);
    const replies = [await send.first(list), await send.second(list), await send.first(list)];
    expect(replies.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual(["9", "8", "7"]);
  });

  it.each([
    ["a REST list", 1, "GET", "/v1/pets", undefined],
    ["a GraphQL operation of one root field", 1, "POST", "/graphql", "{ pets { id } }"],
    ["a GraphQL operation of two root fields", 2, "POST", "/graphql", "{ a: pets { id } b: pets { id } }"],
  ])("%s calls the script of the quota exactly %i times", async (_what, times, method, path, query) => {
    using client = openHttpClient(store.originOf(query === undefined ? "rest" : "graphql"));
    const { key } = await store.database.issueKey();
    const send = () => client.send(method, path, { key, ...(query && { body: JSON.stringify({ query }) }) });
    // Loads the script.
    await send();
    const before = await scriptCalls();
    await send();
    expect((await scriptCalls()) - before).toBe(times);
  });

  /** The calls of EVALSHA so far, from `INFO commandstats`: `cmdstat_evalsha:calls=10000,usec=...`. */
  async function scriptCalls(): Promise<number> {
    const statistics = String(await store.redis?.command("INFO", "commandstats"));
    return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(statistics)?.[1] ?? 0);
  }

  /** Two keys of one account. */
  async function openSenders(first: string, second: string) {
    const { accountId } = await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 10 } });
    const senderOf = async (name: string) => {
      const api = apis.find((one) => one.name === name);
      const { key } = await store.database.issueKey({ accountId });
      return async (operation: Operation): Promise<Reply> => {
        const reply = await api?.send({ operation, authorization: [`Bearer ${key}`], address: newAddress() });
        if (reply === undefined) throw new Error(`${name} cannot send ${operation.kind}`);
        return reply;
      };
    };
    return { first: await senderOf(first), second: await senderOf(second) };
  }
});

function pairs(firsts: readonly string[], seconds: readonly string[]): [string, string][] {
  return firsts.flatMap((first) =>
    seconds.filter((second) => second !== first).map((second): [string, string] => [first, second]),
  );
}

function petsOf({ outcome }: Reply): Success["pets"] {
  if (outcome.kind === "failure") throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.pets;
}
