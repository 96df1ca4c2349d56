// Both APIs admit requests in the same way: before the body, and without a valid key within the limits of the address.
import { randomBytes } from "node:crypto";
import { migrate, mintApiKey } from "@petstore/core";
import { createGraphqlApi } from "@petstore/graphql";
import { createTestDatabase, describeWithRedis, shared } from "@petstore/harness";
import { type FaultProxy, openFaultProxy, openRawClient, type RawClient } from "@petstore/harness/network";
import { openRedisServer } from "@petstore/harness/redis";
import { createRestApi } from "@petstore/rest";
import { type Answer, openTestStore, type TestStore } from "@petstore/test-store";
import { describe, expect, it } from "vitest";

const createApis = [createRestApi, createGraphqlApi];
const createByGraphql = 'mutation { createPet(input: {name: "Rex", categoryId: 1}) { id } }';

/** `list` is the path of a list, `create` the body of a create. */
const apis = [
  { path: "/v1/pets", list: "/v1/pets", create: '{"name":"Rex","categoryId":1}' },
  { path: "/graphql", list: "/graphql?query={pets{id}}", create: JSON.stringify({ query: createByGraphql }) },
] as const;

type Api = (typeof apis)[number];

/** Sends the head of a create without its body. */
function post({ port }: TestStore, { path, create }: Api, key?: string): RawClient {
  const client = openRawClient(port);
  const authorization = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`;
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: petstore\r\n${authorization}Content-Type: application/json\r\n` +
      `Content-Length: ${create.length}\r\n\r\n`,
  );
  return client;
}

/** Sends a create without the end of its body, and waits until its unit shows that it was admitted. */
async function beginCreate(store: TestStore, api: Api, key: string): Promise<RawClient> {
  const remaining = async () => (await store.call("GET", "/v1/none", { key })).rateLimit.remaining;
  const before = await remaining();
  const client = post(store, api, key);
  client.write(api.create.slice(0, 1));
  // Each look costs one more.
  let looks = 0;
  await expect.poll(async () => before - (await remaining()) - ++looks).toBe(1);
  return client;
}

describe.each(apis)("POST $path", async (api) => {
  const { create } = api;
  const store = await shared(openTestStore(createApis));

  it("is refused before its body arrives: 401 without a key, 429 for an account without units", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 100 } });
    await store.call("GET", "/v1/none", { key });
    using withoutKey = post(store, api);
    expect((await withoutKey.received(1))[0]?.status).toBe(401);
    using withKey = post(store, api, key);
    expect((await withKey.received(1))[0]?.status).toBe(429);
  });

  it.each([
    ["key was revoked", "API_KEY_REVOKED", "update api_keys set revoked_at = now()"],
    ["key became a read key", "INSUFFICIENT_SCOPE", "update api_keys set scope = 'read'"],
    ["account was suspended", "ACCOUNT_SUSPENDED", "update accounts set suspended_at = now()"],
  ])("creates nothing if its body ends after its %s", async (_what, code, change) => {
    const { key } = await store.issueKey();
    using client = await beginCreate(store, api, key);
    await store.execute(change);
    await expect.poll(async () => (await store.call("POST", "/v1/pets", { key, body: "{}" })).code).toBe(code);
    client.write(create.slice(1));
    expect((await client.received(1))[0]?.text).toContain(`"code":"${code}"`);
    expect(await store.execute("select from pets")).toEqual([]);
  });

  it.each([
    ["key was revoked", "API_KEY_REVOKED", "update api_keys set revoked_at = now()"],
    ["account was suspended", "ACCOUNT_SUSPENDED", "update accounts set suspended_at = now()"],
  ])("is not parsed if its body ends after its %s", async (_what, code, change) => {
    const { key } = await store.issueKey();
    using client = await beginCreate(store, api, key);
    await store.execute(change);
    await expect.poll(async () => (await store.call("POST", "/v1/pets", { key, body: "{}" })).code).toBe(code);
    client.write("!".repeat(create.length - 1));
    expect((await client.received(1))[0]?.text).toContain(`"code":"${code}"`);
  });
});

it("a create of a read key is refused before its body arrives, and costs a unit", async () => {
  await using store = await openTestStore([createRestApi]);
  const { key } = await store.issueKey({ scope: "read" });
  using client = post(store, apis[0], key);
  expect((await client.received(1))[0]).toMatchObject({ status: 403, code: "INSUFFICIENT_SCOPE" });
  const { rateLimit } = await store.call("GET", "/v1/none", { key });
  expect(rateLimit.remaining).toBe(rateLimit.limit - 2);
});

describe("a key that PostgreSQL cannot check", async () => {
  const database = await shared(createTestDatabase());
  await migrate(database.directUrl);
  const openStore = ({ url }: FaultProxy) =>
    openTestStore(createApis, { DATABASE_URL: url, ANONYMOUS_REQUESTS_PER_MINUTE: "2" });

  it("is answered 503 and counted nowhere, also where its address has used up its anonymous requests", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using store = await openStore(proxy);
    const { key } = await store.issueKey({ plan: "free" });
    for (const { list } of apis) expect((await store.call("GET", list)).status).toBe(401);
    for (const { list } of apis) expect((await store.call("GET", list)).code).toBe("RATE_LIMIT_EXCEEDED");
    await proxy.refuse();
    for (const { list } of apis) expectUnavailable(await store.call("GET", list, { key }), { limit: 2, remaining: 0 });
    await proxy.restore();
    await expect.poll(async () => (await store.call("GET", "/v1/none", { key })).status).toBe(404);
    expect((await store.call("GET", "/v1/none", { key })).rateLimit).toMatchObject({ limit: 60, remaining: 58 });
  });

  it("writes nothing while its record is stale, although PostgreSQL has recovered", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using store = await openStore(proxy);
    const { key } = await store.issueKey();
    const slow: RawClient[] = [];
    for (const api of apis) slow.push(await beginCreate(store, api, key));
    await proxy.refuse();
    store.clock.nowMs += 6_000;
    await store.call("GET", "/v1/none", { key });
    await proxy.restore();
    await store.execute("update api_keys set revoked_at = now()");
    const answers = apis.map(({ path, create }) => store.call("POST", path, { key, body: create }));
    for (const [index, client] of slow.entries()) client.write(apis[index]?.create.slice(1) ?? "");
    const slowAnswers = slow.map(async (client) => (await client.received(1))[0]);
    for (const answer of await Promise.all([...answers, ...slowAnswers])) expect([401, 503]).toContain(answer?.status);
    expect(await store.execute("select from pets")).toEqual([]);
  });
});

it("10 unknown keys of an address are looked up, and others get 503 without counting", async () => {
  await using store = await openTestStore(createApis, { METRICS_PORT: "0" });
  const lookUps = async (result: string) =>
    (await store.scrape()).get(`petstore_key_lookups_total{result="${result}"}`);
  const send = () => store.call("GET", "/v1/pets", { key: mintApiKey("live", randomBytes) });
  for (let count = 1; count <= 10; count++) {
    expect(await send()).toMatchObject({ status: 401, rateLimit: { remaining: 300 - count } });
  }
  for (let count = 0; count < 3; count++) expectUnavailable(await send(), { limit: 300, remaining: 290 });
  expect([await lookUps("miss"), await lookUps("refused")]).toEqual([10, 3]);
  expect(store.logged.filter((line) => !line.includes('"level":"info"'))).toEqual([]);
  store.clock.nowMs += 1_000;
  expect((await send()).status).toBe(401);
});

describeWithRedis("Redis", async () => {
  const redis = await shared(openRedisServer());
  const store = await shared(openTestStore(createApis, { REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "5000" }));

  it("stores nothing of addresses without a valid key", async () => {
    for (const { list } of apis) expect((await store.call("GET", list)).status).toBe(401);
    expect(await redis.command("keys", "*")).toEqual([]);
    const { key } = await store.issueKey();
    await store.call("GET", "/v1/none", { key });
    expect(await redis.command("keys", "*")).toHaveLength(1);
  });

  it.each([
    [1, "a REST list", "/v1/pets"],
    [1, "a GraphQL operation of one root field", "/graphql?query={pets{id}}"],
    [2, "a GraphQL operation of two root fields", "/graphql?query={a:pets{id}b:pets{id}}"],
  ])("gets %i calls of the quota script for %s", async (times, _what, path) => {
    const { key } = await store.issueKey();
    // Loads the script.
    await store.call("GET", path, { key });
    await redis.command("CONFIG", "RESETSTAT");
    await store.call("GET", path, { key });
    expect(await redis.command("INFO", "commandstats")).toContain(`cmdstat_evalsha:calls=${times},`);
  });
});

function expectUnavailable(answer: Answer, rateLimit: Partial<Answer["rateLimit"]>): void {
  expect(answer).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1, rateLimit });
}
