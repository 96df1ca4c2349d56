import { randomUUID } from "node:crypto";
import { describeWithRedis, shared } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRedisQuota } from "../../src/quota/engines/redis-quota.js";
import { type Caller, createCaller, expectReplies, midnight, noon, oneStrike, openOnRedis } from "./caller.js";
import { describeQuota } from "./describe-quota.js";
import { compareEngines } from "./random/compare-engines.js";
import { generators } from "./random/scripts.js";

const limits = { perMinute: 4, perDay: 1_000 };

describeWithRedis("on one Redis", async () => {
  const server = await shared(openRedisServer());
  const redis = new Redis(server.url);
  afterAll(() => redis.disconnect());

  describeQuota("redis", (banPolicy) => openOnRedis(redis, banPolicy));

  describe("redis quota", () => {
    it("sends one EVALSHA, and nothing else, for each decision, or for up to 64 equal ones at once", async () => {
      const opened = openOnRedis(redis, oneStrike);
      const caller = createCaller(opened, limits);
      // Loads the script.
      const held = await caller.admit(noon);
      await server.command("CONFIG", "RESETSTAT");
      expect(await caller.extend(noon, held, 3)).toMatchObject({ outcome: "admitted" });
      await expectReplies(
        caller,
        [noon, 1, "admitted"],
        [noon, 1, "refused"],
        [noon, 1, "banned"],
        [noon, 1, "banned"],
      );
      const keyless = caller.withoutKey();
      const otherMinute = keyless.onPlan({ perMinute: 5, perDay: 1_000 });
      const otherDay = keyless.onPlan({ perMinute: 4, perDay: 999 });
      const unequal = [caller.sibling(), keyless, otherMinute, otherDay, caller.otherAccount().withoutKey()];
      const equal = [caller.outcomes(noon, 64), caller.otherAccount().outcomes(noon, 65)];
      await Promise.all([...equal, ...unequal.map((other) => other.reserve(noon))]);
      const statistics = String(await server.command("INFO", "commandstats"));
      // Without the commands that the script calls.
      const calls = statistics.matchAll(/^cmdstat_(?!mget:|set:|info:|config)(.+):calls=(\d+)/gm);
      expect([...calls].map(([, name, count]) => `${name}: ${count}`)).toEqual(["evalsha: 13"]);
    });

    it("goes on without an error when Redis forgets its scripts", async () => {
      const opened = openOnRedis(redis, oneStrike);
      const caller = createCaller(opened, limits);
      await server.command("SCRIPT", "FLUSH");
      const admitted = await caller.admit(noon);
      await server.command("SCRIPT", "FLUSH");
      expect(await caller.refund(noon, 1, admitted)).toMatchObject({ minute: { used: 0 } });
    });

    it("shares the stored counters and bans of version 1.0", async () => {
      const free = { perMinute: 60, perDay: 1_000 };
      const id = randomUUID();
      const account = `petstore:quota:2:{${id}}`;
      const opened = openOnRedis(redis, oneStrike);
      const caller = createCaller(opened, free, { account: id, key: "1" });

      await redis.set(account, `${noon}:59:${midnight}:100`);
      await expectReplies(caller, [noon, 1, "admitted 60/101"]);
      expect(await redis.get(account)).toBe(`${noon}:60:${midnight}:101`);

      // The second ban of the key. Version 1.0 reads the six numbers before the semicolon.
      await redis.set(`${account}:1`, `0:0:0:0:${noon + 60_000}:1`);
      // Without a beginning, every lift ends it.
      expect(await caller.bans(noon)).toEqual([{ account: id, key: "1", bannedUntilMs: noon + 60_000, sinceMs: noon }]);
      await expectReplies(caller, [noon + 59_999, 1, "banned"], [noon + 60_000, 60, "admitted"]);
      const { bannedUntilMs } = await caller.callUntilBanned(noon + 60_000);
      expect(bannedUntilMs).toBe(noon + 60_000 + 120_000);
      expect(await redis.get(`${account}:1`)).toMatch(new RegExp(`^0:0:0:0:${bannedUntilMs}:2;`));
    });

    it("lists the bans of all accounts in short steps, among any number of keys", async () => {
      const opened = openOnRedis(redis, oneStrike);
      const callers = Array.from({ length: 5 }, () => createCaller(opened, limits));
      for (const caller of callers) await caller.callUntilBanned(noon);
      const refused = Array.from({ length: 5_000 }, () => [`petstore:quota:2:{${randomUUID()}}:1`, "0:0:0:0:0:0"]);
      await redis.mset(...refused.flat());
      await server.command("CONFIG", "RESETSTAT");
      const listed = new Set((await opened.quota.bans()).map(({ account }) => account));
      expect(callers.filter(({ account }) => !listed.has(account))).toEqual([]);
      const [, scans] = /cmdstat_scan:calls=(\d+)/.exec(String(await server.command("INFO", "commandstats"))) ?? [];
      expect(Number(scans)).toBeGreaterThanOrEqual(5);
      await redis.del(...refused.map(([key]) => key ?? ""));
    });

    it("reads the clock of Redis, not its own", async () => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
      onTestFinished(() => void vi.useRealTimers());
      const quota = createRedisQuota({ redis });
      const [seconds] = await redis.time();
      const redisNowMs = Number(seconds) * 1_000;
      const { nowMs, minute } = await quota.usage({ account: "clock", limits });
      expect(nowMs).toBeGreaterThanOrEqual(redisNowMs);
      expect(nowMs).toBeLessThan(redisNowMs + 60_000);
      expect(minute.resetAtMs).toBe((Math.floor(nowMs / 60_000) + 1) * 60_000);
    });

    const comparison = "decides 10,000 $generator calls like the local quota, and gives every key a TTL";
    it.each(generators)(comparison, async ({ scripts }) => {
      await compareEngines({ scripts, redis, atLeastCalls: 10_000 });
    });

    it("grants exactly 1,000 units to 4 connections x 64 callers with mixed costs", async () => {
      const limits = { perMinute: 1_000, perDay: 1_000 };
      const connections = Array.from({ length: 4 }, () => new Redis(server.url));
      const account = { account: randomUUID(), key: "shared" };
      const callers = connections.map((connection) =>
        createCaller(openOnRedis(connection, oneStrike), limits, account),
      );
      let granted = 0;
      const call = async (caller: Caller): Promise<void> => {
        for (let request = 0; request < 40; request += 1) {
          const cost = 1 + Math.floor(8 * Math.random());
          if ((await caller.withoutKey().reserve(noon, cost)).outcome === "admitted") granted += cost;
        }
      };
      await Promise.all(callers.flatMap((caller) => Array.from({ length: 64 }, () => call(caller))));
      for (const connection of connections) connection.disconnect();
      expect(granted).toBe(1_000);
    });
  });
});
