// The users of Redis and of Sentinel in the operations guide: their rights are enough, and none is more than needed.
import { readFile } from "node:fs/promises";
import { createRedisQuota, openRedis, type RedisConfig } from "@petstore/core";
import { openRedisCluster, openRedisSentinels, openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { describe, expect, it } from "vitest";
import { operationsGuide } from "../programs.js";

const guide = await readFile(operationsGuide, "utf8");
const [userOfRedis = [], userOfSentinel = []] = [...guide.matchAll(/^ {4}user (.*)$/gm)].map(([, words = ""]) =>
  words.split(" "),
);
const [, inCluster = ""] = /In a Redis Cluster, add `(.*)`/.exec(guide) ?? [];
const config = { isCluster: false, decisionTimeoutMs: 10_000 };
const limits = { perMinute: 2, perDay: 2 };

const createUser = (server: RedisServer, words: readonly string[]) => server.command("ACL", "SETUSER", ...words);
const withUser = (url: string) => url.replace("//", "//petstore:PASSWORD@");

/** Makes every call of the services. Rejects with the first error of Redis. */
async function useQuota(redisConfig: RedisConfig): Promise<void> {
  using connection = await openRedis(redisConfig);
  const quota = createRedisQuota({ redis: connection.redis });
  for (const account of ["1", "2", "3", "4"]) {
    const reservation = { account, key: account, limits, cost: 1 };
    const receipt = await quota.reserve(reservation);
    if (receipt.outcome !== "admitted") throw new Error(`the first reservation was ${receipt.outcome}`);
    await quota.extend({ ...reservation, cost: 2, receipt });
    await quota.reserve(reservation);
    await quota.usage(reservation);
    await quota.refund({ ...reservation, cost: 2, receipt });
    await quota.bans();
    await quota.liftBan({ account, key: account, liftedAgoMs: 0 });
  }
}

describe("the users in the operations guide", { tags: ["redis-server"] }, () => {
  it("may do what the services do, on one server, also when it has lost the scripts", async () => {
    await using server = await openRedisServer();
    await createUser(server, userOfRedis);
    await useQuota({ ...config, urls: [withUser(server.url)] });
    await server.command("FLUSHALL");
    await server.command("SCRIPT", "FLUSH");
    await useQuota({ ...config, urls: [withUser(server.url)] });
  });

  it.each(userOfRedis.filter((word) => /^[+~]/.test(word)))("need %s", async (right) => {
    await using server = await openRedisServer();
    await createUser(
      server,
      userOfRedis.filter((word) => word !== right),
    );
    const use = useQuota({ ...config, urls: [withUser(server.url)] });
    await expect(use).rejects.toThrow(/^NOPERM|^ERR The user executing the script can't run this command/);
  });

  it("may do what the services do, in a cluster", async () => {
    await using cluster = await openRedisCluster();
    for (const node of cluster.nodes) await createUser(node, [...userOfRedis, ...inCluster.split(" ")]);
    await useQuota({ ...config, isCluster: true, urls: cluster.nodes.map(({ url }) => withUser(url)) });
  });

  it("may do what the services do, behind Sentinel", async () => {
    await using group = await openRedisSentinels({ password: "secret", sentinelPassword: "other" });
    for (const server of group.servers) await createUser(server, userOfRedis);
    for (const sentinel of group.sentinels) await createUser(sentinel, userOfSentinel);
    const url = group.url.replace(/\/\/.*@/, "//petstore:PASSWORD@");
    await useQuota({ ...config, urls: [url], sentinelUsername: "petstore", sentinelPassword: "PASSWORD" });
  });
});
