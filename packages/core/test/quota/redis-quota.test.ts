import { describeWithRedis } from "@petstore/harness";
import { openRedisCluster, openRedisServer, type RedisCluster, type RedisServer } from "@petstore/harness/redis";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import { createLocalQuota } from "../../src/quota/engines/local-quota.js";
import { createRedisQuota } from "../../src/quota/engines/redis-quota.js";
import { createCaller, type OpenedQuota, openAtVirtualTime } from "./caller.js";
import { describeQuota } from "./describe-quota.js";
import { compareEngines } from "./random/compare-engines.js";
import { boundaryDirected, burstDense, scriptPolicy } from "./random/operations.js";

const noon = Date.UTC(2031, 4, 14, 12);
const limits = { perMinute: 4, perDay: 1_000 };
const oneStrike: BanPolicy = { ...defaultBanPolicy, minimumStrikes: 1, strikesPerUnit: 0, graceMs: -1 };

describeWithRedis("on one Redis", () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await openRedisServer();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.[Symbol.asyncDispose]();
  });

  describeQuota("redis", "shared", async (banPolicy) => openOn(redis, banPolicy));

  describe("redis quota", () => {
    it("sends one EVALSHA, and nothing else, for each admitted, refused and banned request", async () => {
      await using opened = openOn(redis, oneStrike);
      await createCaller(opened, limits).reserve(noon);
      const admitted = createCaller(opened, { perMinute: 1_000, perDay: 1_000 });
      const refused = createCaller(opened, limits).withoutKey();
      await refused.reserve(noon, 4);
      const banned = createCaller(opened, limits);
      await banned.callUntilBanned(noon);
      for (const [outcome, caller] of [
        ["admitted", admitted],
        ["refused", refused],
        ["banned", banned],
      ] as const) {
        await server.command("CONFIG", "RESETSTAT");
        expect(await caller.outcomes(noon, 100)).toEqual(Array(100).fill(outcome));
        expect(await clientCommands(server), outcome).toEqual({ evalsha: 100 });
      }
    });

    it("sends one EVALSHA, and nothing else, for each extension, admitted or refused", async () => {
      await using opened = openOn(redis, oneStrike);
      const caller = createCaller(opened, { perMinute: 10, perDay: 1_000 });
      const admitted = await caller.admit(noon);
      const refused = await caller.admit(noon);
      await server.command("CONFIG", "RESETSTAT");
      expect(await caller.extend(noon, admitted, 9)).toMatchObject({ outcome: "admitted" });
      expect(await caller.extend(noon, refused, 2)).toMatchObject({ outcome: "refused" });
      expect(await clientCommands(server)).toEqual({ evalsha: 2 });
    });

    it("decides simultaneous requests of one key in batches of 64, each one EVALSHA, one after another", async () => {
      await using opened = openOn(redis, oneStrike);
      const caller = createCaller(opened, limits);
      await caller.reserve(noon - 60_000);
      await server.command("CONFIG", "RESETSTAT");
      const decisions = await Promise.all(Array.from({ length: 200 }, () => caller.reserve(noon)));
      expect(decisions.map(({ minute }) => minute.used)).toEqual([1, 2, 3, ...Array(197).fill(4)]);
      expect(decisions.map(({ outcome }) => outcome)).toEqual([
        ...Array(4).fill("admitted"),
        "refused",
        ...Array(195).fill("banned"),
      ]);
      expect(await clientCommands(server)).toEqual({ evalsha: Math.ceil(200 / 64) });
    });

    it("goes on without an error when Redis forgets its scripts", async () => {
      await using opened = openOn(redis, oneStrike);
      const caller = createCaller(opened, limits);
      const outcomes: string[] = [];
      for (let request = 0; request < 20; request += 1) {
        await server.command("SCRIPT", "FLUSH");
        outcomes.push((await caller.reserve(noon)).outcome);
      }
      expect(outcomes.slice(0, 4)).toEqual(Array(4).fill("admitted"));
      expect(outcomes).toHaveLength(20);
      await server.command("SCRIPT", "FLUSH");
      const admitted = await caller.reserve(noon + 120_000);
      await server.command("SCRIPT", "FLUSH");
      expect(await caller.refund(noon + 120_000, 1, admitted)).toMatchObject({ minute: { used: 0 } });
    });

    it("reads the clock of Redis, not its own", async () => {
      const quota = createRedisQuota({ redis });
      const [seconds, micros] = await redis.time();
      const redisNowMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
      const { nowMs, minute } = await quota.usage({ account: "clock", limits });
      expect(nowMs).toBeGreaterThanOrEqual(redisNowMs);
      expect(nowMs).toBeLessThan(redisNowMs + 5_000);
      expect(minute.resetAtMs).toBe((Math.floor(nowMs / 60_000) + 1) * 60_000);
    });

    it("keeps an account in fewer than 250 bytes", async () => {
      const quota = createRedisQuota({ redis, prefix: "petstore:quota:bytes:" });
      const accounts = Array.from({ length: 10_000 }, (_, id) => `${1_000_000 + id}`);
      await Promise.all(accounts.map((account) => quota.reserve({ account, key: "1", limits, cost: 3 })));
      const keys = await scan(server, "petstore:quota:bytes:*");
      expect(keys).toHaveLength(10_000);
      const sizes = await Promise.all(keys.map((key) => redis.call("MEMORY", "USAGE", key, "SAMPLES", 0)));
      const bytes = sizes.reduce((sum: number, size) => sum + Number(size), 0) / keys.length;
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(250);
    });

    it.each([
      { generator: "burst-dense", scripts: burstDense },
      { generator: "boundary-directed", scripts: boundaryDirected },
    ])("gives the local quota's answers to $generator scripts", { timeout: 60_000 }, async ({ generator, scripts }) => {
      const compared = await Promise.all(
        [1, 2].map((lane) =>
          compareEngines({
            scripts,
            open: () => [openOn(redis, scriptPolicy), openLocal(scriptPolicy)],
            name: `${generator}-${lane}`,
            seed: Math.floor(Math.random() * 2 ** 31),
            atLeastCalls: 5_000,
          }),
        ),
      );
      expect(compared.flatMap(({ difference }) => difference ?? [])).toEqual([]);
    });

    it("leaves no key without a TTL", { timeout: 60_000 }, async () => {
      for (const scripts of [burstDense, boundaryDirected]) {
        const open = () => [openOn(redis, scriptPolicy), openLocal(scriptPolicy)] as const;
        await compareEngines({ scripts, open, name: `ttl-${scripts === burstDense}`, seed: 1, atLeastCalls: 1_000 });
      }
      const keys = await scan(server, "*");
      expect(keys.length).toBeGreaterThan(0);
      const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
      expect(ttls.filter((ttl) => ttl <= 0)).toEqual([]);
    });
  });
});

describeWithRedis("on a Redis Cluster", () => {
  let servers: RedisCluster;
  let cluster: Cluster;

  beforeAll(async () => {
    servers = await openRedisCluster();
    cluster = new Cluster(servers.nodes.map(({ url }) => url));
  });
  afterAll(async () => {
    cluster?.disconnect();
    await servers?.[Symbol.asyncDispose]();
  });

  describeQuota("redis cluster", "shared", async (banPolicy) => openOn(cluster, banPolicy));

  describe("redis cluster quota", () => {
    it("keeps all keys of an account in one slot, and accounts on every master", async () => {
      await using opened = openOn(cluster, oneStrike, "petstore:quota:slots:");
      for (let account = 0; account < 50; account += 1) {
        const caller = createCaller(opened, limits, { account: `${account}`, key: "1" });
        await caller.callUntilBanned(noon);
        await createCaller(opened, limits, { account: `${account}`, key: "2" }).callUntilBanned(noon);
      }
      const slots = new Map<string, Set<number>>();
      for (const node of servers.nodes) {
        const keys = await scan(node, "petstore:quota:slots:*");
        expect(keys.length, "keys on a master").toBeGreaterThan(0);
        for (const key of keys) {
          const account = /\{(.*)\}/.exec(key)?.[1] ?? key;
          slots.set(account, (slots.get(account) ?? new Set()).add(await servers.slotOf(key)));
        }
      }
      expect(slots.size).toBe(50);
      expect([...slots.values()].filter(({ size }) => size !== 1)).toEqual([]);
    });

    it("sends one EVALSHA, to one master, for each request", async () => {
      await using opened = openOn(cluster, oneStrike);
      const caller = createCaller(opened, { perMinute: 50, perDay: 1_000 });
      await caller.reserve(noon - 60_000);
      for (const node of servers.nodes) await node.command("CONFIG", "RESETSTAT");
      await caller.outcomes(noon, 200);
      const sent = await Promise.all(servers.nodes.map(clientCommands));
      expect(sent.flatMap(({ evalsha }) => evalsha ?? [])).toEqual([200]);
      expect(sent.flatMap(({ eval: whole }) => whole ?? [])).toEqual([]);
    });
  });
});

function openOn(redis: Redis | Cluster, banPolicy: BanPolicy, prefix = "petstore:quota:2:"): OpenedQuota {
  return openAtVirtualTime(({ now }) => createRedisQuota({ redis, banPolicy, prefix, now }));
}

function openLocal(banPolicy: BanPolicy): OpenedQuota {
  return openAtVirtualTime(({ now }) => createLocalQuota({ now, banPolicy, capacity: 8 }));
}

/** Every key that matches. */
async function scan(server: RedisServer, pattern: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const [next, page] = (await server.command("SCAN", cursor, "MATCH", pattern, "COUNT", 1_000)) as [string, string[]];
    keys.push(...page);
    cursor = next;
  } while (cursor !== "0");
  return keys;
}

/** How often each command was called since the statistics were reset; those that the scripts call are left out. */
async function clientCommands(server: RedisServer): Promise<Partial<Record<string, number>>> {
  const inner = /^(mget|set|time|info|config\|resetstat)$/;
  const stats = String(await server.command("INFO", "commandstats"));
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = "", count]) => [
    name,
    Number(count),
  ]);
  return Object.fromEntries(calls.filter(([name]) => !inner.test(`${name}`)));
}
