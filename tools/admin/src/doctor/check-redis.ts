import { once } from "node:events";
import { createRedisQuota, openRedis, type RedisConfig, type RedisConnection, readSentinelUrl } from "@petstore/core";
import { addressOf, checkSentinels } from "./check-sentinels.js";
import { checkRedisTransport } from "./check-transport.js";
import { compareClocks, type Finding, fault, ok, warning } from "./finding.js";

/** Every Redis that counts; one finding where none is configured. */
export async function checkRedis(config: RedisConfig | undefined, now: () => number): Promise<Finding[]> {
  if (config === undefined) {
    return [ok("redis", "none: each instance counts for itself, which is right for one instance")];
  }
  const sentinels = readSentinelUrl(config.urls[0] ?? "");
  const findings = sentinels === undefined ? [] : await checkSentinels(sentinels, config);
  try {
    return [...findings, ...(await checkReachable(config, now)), ...checkRedisTransport(config)];
  } catch (error) {
    const where = sentinels
      ? `${sentinels.name} behind the sentinels`
      : config.urls.map((url) => new URL(url).host).join(", ");
    const message = error instanceof Error && error.name !== "AbortError" ? error.message || error.name : "no answer";
    const correction = `Start it, or correct REDIS_URL${config.isCluster ? " (a cluster is asked for)" : ""}`;
    const advice = `${correction}; until then each instance decides alone, with its share of the limits.`;
    return [...findings, ...checkRedisTransport(config), fault("redis", `${where} cannot be used: ${message}`, advice)];
  }
}

/** Checks every master. Rejects with the error of ioredis when Redis cannot be reached. */
async function checkReachable(config: RedisConfig, now: () => number): Promise<Finding[]> {
  using connection = await openRedis(config);
  const { redis } = connection;
  if (redis.status !== "ready") {
    // ioredis keeps trying, and each failed attempt emits an error.
    const [reason] = await once(redis, "error", { signal: AbortSignal.timeout(1_500) });
    throw reason;
  }
  const servers = "nodes" in redis ? redis.nodes("master") : [redis];
  const findings = await Promise.all(servers.map((server) => checkServer(server, config, now)));
  return [await checkQuota(redis), ...findings.flat()];
}

/** Makes the calls of the services, for an account that does not exist: a Redis that answers may still refuse them. */
async function checkQuota(redis: RedisConnection["redis"]): Promise<Finding> {
  const check = "redis quota";
  const quota = createRedisQuota({ redis });
  const reservation = { account: "doctor", key: "doctor", limits: { perMinute: 1, perDay: 1 }, cost: 1 };
  try {
    await quota.reserve(reservation);
    // The window has no unit left, so the script also stores the strikes of the key, and the lift deletes them.
    await quota.reserve(reservation);
    await quota.liftBan({ account: "doctor", key: "doctor", liftedAgoMs: 0 });
    return ok(check, "Redis counts, and lifts bans");
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    const advice = `${correctionOf(message)}; until then each instance decides alone, with its share of the limits.`;
    return fault(check, `Redis refuses the calls of the services: ${message}`, advice);
  }
}

function correctionOf(message: string): string {
  // The second text is of a command inside a script.
  if (/^NOPERM|^ERR The user executing the script can't run this command/.test(message))
    return 'Give the user of REDIS_URL the rights of "The user of Redis" in operations.md';
  if (message.startsWith("NOREPLICAS")) return "Start a replica";
  return "Correct its settings";
}

type Server = Exclude<RedisConnection["redis"], { nodes: unknown }>;

async function checkServer(server: Server, { isCluster, urls }: RedisConfig, now: () => number): Promise<Finding[]> {
  const info = await server.info().catch((error: Error) => error);
  // The options name no server if Sentinel does.
  const address = server.options.sentinels
    ? addressOf({ host: `${server.stream.remoteAddress}`, port: Number(server.stream.remotePort) })
    : `${server.options.host}:${server.options.port}`;
  const name = `redis ${address}`;
  if (info instanceof Error) {
    if (!info.message.startsWith("NOPERM")) throw info;
    const found =
      "answers, but its version, mode, eviction and replicas cannot be checked, because the user may not call INFO";
    return [
      warning(
        name,
        found,
        "The services do not need this right. Give it to the user, or run doctor with another user.",
      ),
      await checkClock(name, server, now),
    ];
  }
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const version = field("redis_version");
  const isNode = field("redis_mode") === "cluster";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return [
    major > 6 || (major === 6 && minor >= 2)
      ? ok(name, `Redis ${version}${isNode ? ", in a cluster" : ""}`)
      : warning(name, `Redis ${version}`, "Upgrade it: 6.2 is the oldest that is tested."),
    checkMode(`${name} mode`, isNode, isCluster),
    checkEviction(`${name} eviction`, field("maxmemory_policy")),
    await checkClock(name, server, now),
    // This field is only there if min-replicas-to-write is set.
    ...(readSentinelUrl(urls[0] ?? "") ? [checkWrites(`${name} writes`, field("min_slaves_good_slaves") !== "")] : []),
  ];
}

async function checkClock(name: string, server: Server, now: () => number): Promise<Finding> {
  const check = `${name} clock`;
  try {
    return await compareClocks(check, now, async () => {
      const [seconds, microseconds] = await server.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : `${error}`;
    return warning(check, `cannot be read: ${message}`, "The check of the quota shows whether the services need this.");
  }
}

function checkMode(check: string, isNode: boolean, isCluster: boolean): Finding {
  if (isNode === isCluster) return ok(check, isCluster ? "cluster" : "single");
  if (isNode) {
    const found = "a node of a cluster, but one address is configured";
    return fault(check, found, "Set REDIS_CLUSTER=true, or name several nodes in REDIS_URL.");
  }
  const advice = "Name one server in REDIS_URL, and leave REDIS_CLUSTER out.";
  return fault(check, "no cluster, but one is configured", advice);
}

function checkEviction(check: string, policy: string): Finding {
  if (policy === "noeviction") return ok(check, policy);
  const found = `${policy || "unknown"}: counters and bans are forgotten when its memory is full`;
  return fault(check, found, "Set maxmemory-policy noeviction.");
}

function checkWrites(check: string, needsReplica: boolean): Finding {
  if (needsReplica) return ok(check, "refused without a replica");
  const found = "accepted without a replica: an old primary that is cut off from the sentinels continues to count";
  return warning(check, found, "Set min-replicas-to-write 1 on every server, and min-replicas-max-lag 10.");
}
