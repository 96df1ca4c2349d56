import { setTimeout as sleep } from "node:timers/promises";
import { describeWithRedis, shared } from "@petstore/harness";
import { openRedisCluster, type RedisServer } from "@petstore/harness/redis";
import { Cluster } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import type { Quotas } from "../../../src/quota/open-quota.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { openOnRedis } from "../caller.js";
import { describeQuota } from "../describe-quota.js";
import { messages, newAccount, openQuotasOnRedis } from "./quotas-on-redis.js";

type RedisCluster = Awaited<ReturnType<typeof openRedisCluster>>;

/** The nodes of a cluster need some seconds until they agree, and more on a busy machine. */
const recovers = { timeout: 30_000 };

describeWithRedis("the quota on a Redis Cluster", async () => {
  const cluster = await shared(openRedisCluster({ replicas: 1 }));
  const open = () => openQuotasOnRedis({ urls: urlsOf(cluster) });

  describe("before any fault", () => {
    const redis = new Cluster(urlsOf(cluster));
    afterAll(() => redis.disconnect());

    // A script whose keys are in different slots fails on a cluster.
    describeQuota("redis cluster", (banPolicy) => openOnRedis(redis, banPolicy));
  });

  it("counts every call once when the connections to its nodes break under load", async () => {
    using opened = await open();
    const accounts = newAccounts();
    const callAll = () =>
      Promise.all(accounts.flatMap((account) => Array(20).fill(account)).map(opened.accounts.reserve));
    await callAll();
    for (let fault = 1; fault <= 5; fault += 1) {
      const calls = callAll();
      for (const node of cluster.nodes) await node.command("CLIENT", "KILL", "TYPE", "normal");
      await calls;
      await expect.poll(opened.mode, recovers).toBe("shared");
      await callAll();
    }
    for (const account of accounts) {
      await expect.poll(opened.mode, recovers).toBe("shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 221 } });
    }
  });

  it.each(["command", "kill"] as const)("works without a restart after a failover by %s", async (by) => {
    using opened = await open();
    const names = opened.shards().map(({ name }) => name);
    const accounts = newAccounts();
    const load = startLoad(opened, accounts);
    const old = await cluster.masterOf(keyOf(accounts[0]));
    await cluster.failover(old, by);
    await expect.poll(opened.mode, recovers).toBe("shared");
    await load.stopAndCheck();
    expect(opened.shards().map(({ name }) => name)).toEqual(names);
    if (by === "kill") await old.restart();
  });

  it("follows a slot that moves to another master under load, and counts every call once", async () => {
    using opened = await open();
    const accounts = newAccounts().map((account) => ({ ...account, key: "1" }));
    const load = startLoad(opened, accounts);
    const moved = keyOf(accounts[0]);
    const source = await cluster.masterOf(moved);
    const owners = await Promise.all(accounts.map((account) => cluster.masterOf(keyOf(account))));
    const target = owners.find((owner) => owner !== source);
    if (target === undefined) throw new Error("All accounts are on one master");
    for (const owner of [target, source]) {
      await cluster.moveSlot(moved, owner);
      expect(await cluster.masterOf(moved)).toBe(owner);
    }
    await expect.poll(opened.mode, recovers).toBe("shared");
    await load.stopAndCheck();
  });
});

describeWithRedis("the quota on a Redis Cluster without replicas", async () => {
  const cluster = await shared(openRedisCluster());

  it("decides alone only about the accounts of a lost master, and counts each unit once when it returns empty", async () => {
    using opened = await openQuotasOnRedis({ urls: urlsOf(cluster) });
    const accounts = newAccounts();
    const reserveAll = () => Promise.all(accounts.map(opened.accounts.reserve));
    await reserveAll();
    const lost = await cluster.masterOf(keyOf(accounts[0]));
    const modes = await modesWithout(cluster, lost, accounts);
    await lost.kill();
    await expect.poll(opened.mode, recovers).toBe("fallback");
    for (let round = 0; round < 10; round += 1) {
      expect((await reserveAll()).map(({ mode }) => mode)).toEqual(modes);
      await sleep(50);
    }
    expect(accounts.map(({ account }) => opened.mode(account))).toEqual(modes);
    expect(opened.shards().map(({ isShared, outages }) => [isShared, outages])).toEqual(
      expect.arrayContaining([
        [false, 1],
        [true, 0],
        [true, 0],
      ]),
    );
    await lost.restart();
    await expect.poll(opened.mode, recovers).toBe("shared");
    expect((await reserveAll()).map(({ day }) => day.used)).toEqual(accounts.map(() => 12));
    expect(opened.logged).toEqual([messages.shared, messages.unavailable, messages.recovered]);
  });

  it("survives the pause of a master to which a slot moves", async () => {
    using opened = await openQuotasOnRedis({ urls: urlsOf(cluster), decisionTimeoutMs: 80 });
    const [account = newAccount(100)] = newAccounts();
    const source = await cluster.masterOf(keyOf(account));
    const target = cluster.nodes.find((node) => node !== source) ?? source;
    const slot = Number(await source.command("CLUSTER", "KEYSLOT", keyOf(account)));
    await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", String(await source.command("CLUSTER", "MYID")));
    await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", String(await target.command("CLUSTER", "MYID")));
    const rejections: unknown[] = [];
    const keep = (error: unknown) => void rejections.push(error);
    process.on("unhandledRejection", keep);
    target.pause();
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", mode: "fallback" });
    // Longer than ioredis waits for a reply.
    await sleep(1_500);
    process.off("unhandledRejection", keep);
    target.resume();
    expect(rejections).toEqual([]);
    for (const node of [source, target]) await node.command("CLUSTER", "SETSLOT", slot, "STABLE");
    await expect.poll(opened.mode, recovers).toBe("shared");
  });

  it("refuses only the accounts of a lost master if the quota denies", async () => {
    using opened = await openQuotasOnRedis({ urls: urlsOf(cluster), failureMode: "deny" });
    const accounts = newAccounts();
    const lost = await cluster.masterOf(keyOf(accounts[0]));
    const modes = await modesWithout(cluster, lost, accounts);
    await lost.kill();
    await expect.poll(opened.mode, recovers).toBe("fallback");
    const results = await Promise.allSettled(accounts.map(opened.accounts.reserve));
    expect(results.map(({ status }) => status)).toEqual(
      modes.map((mode) => (mode === "shared" ? "fulfilled" : "rejected")),
    );
    await lost.restart();
    await expect.poll(opened.mode, recovers).toBe("shared");
  });

  it("lists the bans of the other masters, and of a lost master those that this instance has seen", async () => {
    using opened = await openQuotasOnRedis({ urls: urlsOf(cluster) });
    const accounts = newAccounts().map((account) => ({ ...account, key: "1" }));
    for (const { account, key } of accounts) {
      const master = await cluster.masterOf(`petstore:quota:2:{${account}}`);
      await master.command("SET", `petstore:quota:2:{${account}}:${key}`, `0:0:0:0:${Date.now() + 60_000}:1`);
    }
    const banned = await Promise.all(accounts.map(opened.accounts.reserve));
    expect(banned.map(({ outcome }) => outcome)).toEqual(accounts.map(() => "banned"));
    const lost = await cluster.masterOf(keyOf(accounts[0]));
    await lost.kill();
    await expect.poll(opened.mode, recovers).toBe("fallback");
    const listed = (await opened.accounts.bans()).map(({ account }) => account);
    expect(listed.toSorted()).toEqual(accounts.map(({ account }) => account).toSorted());
    await lost.restart();
    await expect.poll(opened.mode, recovers).toBe("shared");
  });

  it("is absent at start: decides alone, and tells its masters the granted units later", async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    using opened = await openQuotasOnRedis({ urls: urlsOf(cluster) });
    const accounts = newAccounts();
    const decisions = await Promise.all(accounts.map(opened.accounts.reserve));
    expect(decisions.map(({ mode }) => mode)).toEqual(accounts.map(() => "fallback"));
    await Promise.all(cluster.nodes.map((node) => node.restart()));
    await expect.poll(opened.mode, recovers).toBe("shared");
    expect((await Promise.all(accounts.map(opened.accounts.reserve))).map(({ day }) => day.used)).toEqual(
      accounts.map(() => 2),
    );
    expect(opened.shards()).toHaveLength(3);
  });
});

function urlsOf({ nodes }: RedisCluster): string[] {
  return nodes.map(({ url }) => url);
}

/** So many that every master has some. */
function newAccounts(): Reservation[] {
  return Array.from({ length: 30 }, () => newAccount(100_000));
}

function keyOf(account: Reservation | undefined): string {
  return `petstore:quota:2:{${account?.account}}`;
}

/** The modes of the accounts while the master is lost. */
function modesWithout(cluster: RedisCluster, lost: RedisServer, accounts: readonly Reservation[]): Promise<string[]> {
  const modeOf = async (account: Reservation) =>
    (await cluster.masterOf(keyOf(account))) === lost ? "fallback" : "shared";
  return Promise.all(accounts.map(modeOf));
}

/** Reserves a unit of every account again and again. Every call must be admitted. */
function startLoad({ accounts: quota }: Quotas, accounts: readonly Reservation[]) {
  let rounds = 0;
  let isOver = false;
  const callAll = () => {
    rounds += 1;
    return Promise.all(accounts.map(quota.reserve));
  };
  const load = (async () => {
    while (!isOver) {
      expect((await callAll()).map(({ outcome }) => outcome)).toEqual(accounts.map(() => "admitted"));
      await sleep(5);
    }
  })();
  return {
    /** Each unit must be counted once. */
    async stopAndCheck() {
      isOver = true;
      await load;
      expect((await callAll()).map(({ day }) => day.used)).toEqual(accounts.map(() => rounds));
    },
  };
}
