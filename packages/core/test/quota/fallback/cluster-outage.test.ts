import { setTimeout as sleep } from "node:timers/promises";
import { describeWithRedis } from "@petstore/harness";
import { openRedisCluster, type RedisCluster } from "@petstore/harness/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type LoggedQuotas, messages, newAccount, openQuotasOnRedis, until } from "./quotas-fixture.js";

describeWithRedis("the quota on a Redis Cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await openRedisCluster({ replicas: 1 });
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const open = () => openQuotasOnRedis({ urls: cluster.nodes.map(({ url }) => url) });

  it("counts every call once when the connections to its nodes break under load", { timeout: 30_000 }, async () => {
    using opened = await open();
    const accounts = Array.from({ length: 12 }, () => newAccount(100_000));
    const callAll = () =>
      Promise.all(accounts.flatMap((account) => Array(20).fill(account)).map(opened.accounts.reserve));
    await callAll();
    for (let fault = 1; fault <= 5; fault += 1) {
      const calls = callAll();
      for (const node of cluster.nodes) await node.command("CLIENT", "KILL", "TYPE", "normal");
      await calls;
      await until(() => opened.mode() === "shared", 5_000);
      await callAll();
    }
    for (const account of accounts) {
      await until(() => opened.mode() === "shared", 5_000);
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 221 } });
    }
  });

  it("counts an executed call once when its reply is lost", { timeout: 30_000 }, async () => {
    using opened = await openQuotasOnRedis({ urls: cluster.nodes.map(({ url }) => url), decisionTimeoutMs: 5_000 });
    const account = newAccount(100_000);
    const node = await cluster.masterOf(`petstore:quota:2:{${account.account}}`);
    const callAll = () => Promise.all(Array.from({ length: 20 }, () => opened.accounts.reserve(account)));
    await callAll();
    for (let fault = 1; fault <= 5; fault += 1) {
      // When the node continues, it finds both at once: the calls, and the command to close their connection.
      node.pause();
      const calls = callAll();
      const closing = node.command("CLIENT", "KILL", "TYPE", "normal");
      await sleep(50);
      node.resume();
      await Promise.all([calls, closing]);
      await until(() => opened.mode() === "shared", 5_000);
    }
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 121 } });
  });

  it("is used when it becomes available after the start", { timeout: 30_000 }, async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    using opened = await open();
    expect(opened.mode()).toBe("fallback");
    const account = newAccount(100);
    await opened.accounts.reserve(account);
    await Promise.all(cluster.nodes.map((node) => node.restart()));
    await until(() => opened.mode() === "shared", 15_000);
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 2 } });
  });

  it("is found again each time that all connections break at once", { timeout: 30_000 }, async () => {
    using opened = await open();
    for (let fault = 0; fault < 10; fault += 1) {
      for (const node of cluster.nodes) await node.command("CLIENT", "KILL", "TYPE", "normal");
      await Promise.all(Array.from({ length: 50 }, () => opened.accounts.reserve(newAccount(10))));
      await until(() => opened.mode() === "shared", 5_000);
    }
  });

  it.each(["command", "kill"] as const)(
    "works without a restart after a failover by %s",
    { timeout: 60_000 },
    async (by) => {
      using opened = await open();
      const accounts = Array.from({ length: 12 }, () => newAccount(100_000));
      let rounds = 0;
      const callAll = async () => {
        rounds += 1;
        return Promise.all(accounts.map(opened.accounts.reserve));
      };
      await callAll();
      let isOver = false;
      const load = callUntil(() => isOver, callAll);
      const old = await cluster.masterOf(`petstore:quota:2:{${accounts[0]?.account}}`);
      await cluster.failover(old, by);
      await until(() => opened.mode() === "shared", 15_000);
      isOver = true;
      expect(await load).toEqual([]);
      const decisions = await callAll();
      expect(decisions.map(({ day }) => day.used)).toEqual(accounts.map(() => rounds));
      expectPairs(opened);
      if (by === "kill") await old.restart();
    },
  );
});

/** The outcomes other than admitted. */
async function callUntil(
  isOver: () => boolean,
  callAll: () => Promise<readonly { readonly outcome: string }[]>,
): Promise<string[]> {
  const other: string[] = [];
  while (!isOver()) {
    const decisions = await callAll();
    other.push(...decisions.map(({ outcome }) => outcome).filter((outcome) => outcome !== "admitted"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return other;
}

/** Every outage is logged by one line at its start and one at its end. */
function expectPairs({ logged }: LoggedQuotas): void {
  const { shared, unavailable, recovered } = messages;
  const outages = (logged.length - 1) / 2;
  expect(logged).toEqual([shared, ...Array.from({ length: outages }, () => [unavailable, recovered]).flat()]);
  expect(outages).toBeLessThanOrEqual(12);
}
