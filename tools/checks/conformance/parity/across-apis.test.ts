// All interfaces work on the same pets, idempotency keys and quotas.
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

describeWithRedis("the interfaces", () => {
  let store: RunningStore;
  let apis: readonly Api[];

  beforeAll(async () => {
    store = await openRunningStore();
    apis = await openApis(store);
    await store.database.execute(addPets(12, "Rex"));
  });
  afterAll(() => store?.[Symbol.asyncDispose]());

  it.each(creating)("%s creates a pet, and every other replays it for the same idempotency key", async (first) => {
    const send = await openAccount();
    const created = await send(first, create);
    expect(created.headers).not.toHaveProperty("idempotency-replayed");
    for (const name of creating) {
      const replayed = await send(name, create);
      expect(petsOf(replayed), name).toEqual(petsOf(created));
      expect(replayed.headers, name).toHaveProperty("idempotency-replayed", "true");
      const { outcome } = await send(name, { ...create, input: '{"name":"Max","categoryId":1}' });
      expect(outcome, name).toMatchObject({ kind: "failure", code: "IDEMPOTENCY_KEY_REUSED", status: 422 });
    }
  });

  it("use one quota", async () => {
    const send = await openAccount();
    const names = [...listing, ...listing];
    const remaining: number[] = [];
    for (const name of names) remaining.push(Number((await send(name, list)).headers["x-ratelimit-remaining"]));
    expect(remaining).toEqual(names.map((_, index) => 9 - index));
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

  /** Sends the operations of one account, over each interface with another key. */
  async function openAccount() {
    const { accountId } = await store.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 10 } });
    const keys = new Map<string, string>();
    for (const { name } of apis) keys.set(name, (await store.database.issueKey({ accountId })).key);
    return async (name: string, operation: Operation): Promise<Reply> => {
      const api = apis.find((one) => one.name === name);
      const authorization = [`Bearer ${keys.get(name)}`];
      const reply = await api?.send({ operation, authorization, address: newAddress() });
      if (reply === undefined) throw new Error(`${name} cannot send ${operation.kind}`);
      return reply;
    };
  }
});

function petsOf({ outcome }: Reply): Success["pets"] {
  if (outcome.kind === "failure") throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.pets;
}
