import { setTimeout as sleep } from "node:timers/promises";
import { describeWithRedis, shared } from "@petstore/harness";
import { openRedisCluster } from "@petstore/harness/redis";
import { Cluster } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { openOnRedis } from "../caller.js";
import { describeQuota } from "../describe-quota.js";
import { newAccount, openQuotasOnRedis } from "./quotas-on-redis.js";

describeWithRedis("the quota on a Redis Cluster", async () => {
  const cluster = await shared(openRedisCluster({ replicas: 1 }));
  const urls = cluster.nodes.map(({ url }) => url);
  const open = () => openQuotasOnRedis({ urls });

  describe("before any fault", () => {
    const redis = new Cluster(urls);
    afterAll(() => redis.disconnect());

    // A script whose keys are in different slots fails on a cluster.
    describeQuota("redis cluster", (banPolicy) => openOnRedis(redis, banPolicy));
  });

  it("counts every call once when the connections to its nodes break under load", async () => {
    using opened = await open();
    const accounts = Array.from({ length: 12 }, () => newAccount(100_000));
    const callAll = () =>
      Promise.all(accounts.flatMap((account) => Array(20).fill(account)).map(opened.accounts.reserve));
    await callAll();
    for (let fault = 1; fault <= 5; fault += 1) {
      const calls = callAll();
      for (const node of cluster.nodes) await node.command("CLIENT", "KILL", "TYPE", "normal");
      await calls;
      await expect.poll(opened.mode).toBe("shared");
      await callAll();
    }
    for (const account of accounts) {
      await expect.poll(opened.mode).toBe("shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 221 } });
    }
  });

  it.each(["command", "kill"] as const)("works without a restart after a failover by %s", async (by) => {
    using opened = await open();
    const accounts = Array.from({ length: 12 }, () => newAccount(100_000));
    let rounds = 0;
    let isOver = false;
    const callAll = () => {
      rounds += 1;
      return Promise.all(accounts.map(opened.accounts.reserve));
    };
    const load = (async () => {
      while (!isOver) {
        expect((await callAll()).map(({ outcome }) => outcome)).toEqual(accounts.map(() => "admitted"));
        await sleep(5);
      }
    })();
    const old = await cluster.masterOf(`petstore:quota:2:{${accounts[0]?.account}}`);
    await cluster.failover(old, by);
    await expect.poll(opened.mode).toBe("shared");
    isOver = true;
    await load;
    expect((await callAll()).map(({ day }) => day.used)).toEqual(accounts.map(() => rounds));
    if (by === "kill") await old.restart();
  });
});
