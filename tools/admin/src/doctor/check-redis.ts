import { isSentinelUrl, type RedisConfig, readSentinelUrl } from "@petstore/core";
import { checkSentinels } from "./check-sentinels.js";
import { checkRedisTransport } from "./check-transport.js";
import { compareClocks, type Finding, fault, ok, warning } from "./finding.js";
import { inspectRedis, type RedisFacts } from "./inspect-redis.js";

/** Every Redis that counts; one finding where none is configured. */
export async function checkRedis(config: RedisConfig | undefined, now: () => number): Promise<Finding[]> {
  if (config === undefined) {
    return [ok("redis", "none: each instance counts for itself, which is right for one instance")];
  }
  const [url = ""] = config.urls;
  const sentinels = isSentinelUrl(url) ? readSentinelUrl(url) : undefined;
  if (sentinels !== undefined && "name" in sentinels) {
    const view = await checkSentinels(sentinels, config);
    return [...view, ...(await checkServers(config, now, `${sentinels.name} behind the sentinels`))];
  }
  return checkServers(config, now, config.urls.map((one) => new URL(one).host).join(", "));
}

async function checkServers(config: RedisConfig, now: () => number, where: string): Promise<Finding[]> {
  try {
    const servers = await inspectRedis(config, now);
    return [...servers.flatMap((facts) => checkServer(facts, config)), ...checkRedisTransport(config)];
  } catch (error) {
    const message = error instanceof Error && error.name !== "AbortError" ? error.message || error.name : "no answer";
    return [
      ...checkRedisTransport(config),
      fault(
        "redis",
        `${where} cannot be used: ${message}`,
        `Start it, or correct REDIS_URL${config.isCluster ? " (a cluster is asked for)" : ""}; until then each instance decides alone, with its share of the limits.`,
      ),
    ];
  }
}

function checkServer(facts: RedisFacts, { isCluster, urls }: RedisConfig): Finding[] {
  const { address, version, evictionPolicy } = facts;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const name = `redis ${address}`;
  return [
    major > 6 || (major === 6 && minor >= 2)
      ? ok(name, `Redis ${version}${facts.isCluster ? ", in a cluster" : ""}`)
      : warning(name, `Redis ${version}`, "Upgrade it: 6.2 is the oldest that is tested."),
    facts.isCluster === isCluster
      ? ok(`${name} mode`, isCluster ? "cluster" : "single")
      : fault(
          `${name} mode`,
          facts.isCluster ? "a node of a cluster, but one address is configured" : "no cluster, but one is configured",
          facts.isCluster
            ? "Set REDIS_CLUSTER=true, or name several nodes in REDIS_URL."
            : "Name one server in REDIS_URL, and leave REDIS_CLUSTER out.",
        ),
    evictionPolicy === "noeviction"
      ? ok(`${name} eviction`, evictionPolicy)
      : fault(
          `${name} eviction`,
          `${evictionPolicy || "unknown"}: counters and bans are forgotten when its memory is full`,
          "Set maxmemory-policy noeviction.",
        ),
    compareClocks(`${name} clock`, facts),
    ...(isSentinelUrl(urls[0] ?? "") ? [checkReplicaWrites(name, facts)] : []),
  ];
}

function checkReplicaWrites(name: string, { needsReplica }: RedisFacts): Finding {
  const check = `${name} writes`;
  if (needsReplica) return ok(check, "refused without a replica");
  return warning(
    check,
    "accepted without a replica: an old primary that is cut off from the sentinels continues to count",
    "Set min-replicas-to-write 1 on every server, and min-replicas-max-lag 10.",
  );
}
