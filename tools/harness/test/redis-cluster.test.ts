import { describeWithRedis } from "@petstore/harness";
import { openRedisCluster, type RedisCluster } from "@petstore/harness/redis";
import { Cluster } from "ioredis";
import { expect, test, vi } from "vitest";

interface Client extends AsyncDisposable {
  readonly redis: Cluster;
}

async function openClient(cluster: RedisCluster): Promise<Client> {
  const redis = new Cluster(cluster.nodes.map(({ url }) => url));
  redis.on("error", () => {});
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() };
}

const keys = Array.from({ length: 60 }, (_, index) => `pet:${index}`);

async function writeAll(redis: Cluster): Promise<void> {
  for (const key of keys) await redis.set(key, key);
}

async function readAll(redis: Cluster): Promise<(string | null)[]> {
  return Promise.all(keys.map((key) => redis.get(key)));
}

vi.setConfig({ testTimeout: 30_000 });

describeWithRedis("a Redis Cluster of the test's own", () => {
  test.concurrent("three masters serve every slot between them", async () => {
    await using cluster = await openRedisCluster();
    await using client = await openClient(cluster);
    expect(cluster.nodes).toHaveLength(3);
    await writeAll(client.redis);
    expect(await readAll(client.redis)).toEqual(keys);
    const used = await Promise.all(keys.map((key) => cluster.masterOf(key)));
    expect(new Set(used)).toEqual(new Set(cluster.nodes));
  });

  test.concurrent("a slot moves with its keys, and its old master asks clients to follow", async () => {
    await using cluster = await openRedisCluster();
    await using client = await openClient(cluster);
    const from = await cluster.masterOf("{pet}");
    const to = cluster.nodes.find((node) => node !== from) ?? from;
    for (let index = 0; index < 250; index += 1) await client.redis.set(`{pet}:${index}`, index);

    let halfway: unknown;
    await cluster.migrateSlot(await cluster.slotOf("{pet}"), from, to, async () => {
      halfway = await from.command("GET", "{pet}:249").catch((error: Error) => error.message);
      expect(await client.redis.get("{pet}:249")).toBe("249");
    });
    expect(halfway).toBe(`ASK ${await cluster.slotOf("{pet}")} 127.0.0.1:${to.port}`);
    expect(await cluster.masterOf("{pet}")).toBe(to);
    expect(await to.command("CLUSTER", "COUNTKEYSINSLOT", await cluster.slotOf("{pet}"))).toBe(250);
    expect(await client.redis.get("{pet}:0")).toBe("0");
  });

  test.concurrent("a failover by command makes the replica the master, and back, and loses nothing", async () => {
    await using cluster = await openRedisCluster({ replicas: 1 });
    await using client = await openClient(cluster);
    await writeAll(client.redis);
    const master = await cluster.masterOf("pet:0");
    const promoted = await cluster.failover(master);
    expect(await cluster.masterOf("pet:0")).toBe(promoted);
    expect(await cluster.roleOf(master)).toBe("replica");
    expect(await readAll(client.redis)).toEqual(keys);

    expect(await cluster.failover(promoted)).toBe(master);
    expect(await readAll(client.redis)).toEqual(keys);
  });

  test.concurrent("the replica of a killed master takes over, and the master returns as its replica", async () => {
    await using cluster = await openRedisCluster({ replicas: 1 });
    const master = await cluster.masterOf("pet:0");
    const promoted = await cluster.failover(master, "kill");
    expect(master.state).toBe("killed");
    expect(await cluster.masterOf("pet:0")).toBe(promoted);

    await master.restart();
    await cluster.settle();
    expect(await cluster.roleOf(master)).toBe("replica");
    expect(await cluster.masterOf("pet:0")).toBe(promoted);
  });

  test.concurrent("a master without a replica cannot fail over", async () => {
    await using cluster = await openRedisCluster();
    await expect(cluster.failover(await cluster.masterOf("pet"))).rejects.toThrow("no replica");
  });
});
