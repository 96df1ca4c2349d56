import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loopback } from "@petstore/embedded-postgres";
import { openTogether, until } from "../processes/resources.js";
import { openRedisProcess, openRedisServer, type RedisServer, roleOf, running } from "./redis-server.js";

/** A primary with two replicas, watched by three sentinels. Disposing ends every process in any state. */
export interface RedisSentinels extends AsyncDisposable {
  /** `redis+sentinel:`, with every sentinel and the name of the group. */
  readonly url: string;
  readonly name: string;
  /** The first one began as the primary. A killed one that restarts is empty, and calls itself a primary. */
  readonly servers: readonly RedisServer[];
  /** A killed one that restarts knows what it knew. */
  readonly sentinels: readonly RedisServer[];
  /** The primary that every running sentinel names. Waits until they agree on another one than `not`, after a failover. */
  primary(options?: { readonly not?: RedisServer }): Promise<RedisServer>;
  /** Resolves when a running server other than `not` has become a primary, before all sentinels know it. */
  promotion(options: { readonly not: RedisServer }): Promise<RedisServer>;
}

interface SentinelsOptions {
  readonly password?: string;
  readonly sentinelPassword?: string;
}

const name = "petstore";
const serverCount = 3;
const sentinelCount = 3;
const quorum = 2;
/** A server that is silent this long counts as failed. Less would fail over on a busy machine. */
const downAfterMs = 1_000;
/** A failed election is repeated after twice this time. */
const failoverTimeoutMs = 2_000;

export function openRedisSentinels(options: SentinelsOptions = {}): Promise<RedisSentinels> {
  return openTogether(async (use) => {
    const servers: RedisServer[] = [];
    const sentinels: RedisServer[] = [];
    while (servers.length < serverCount) servers.push(use(await openServer(options)));
    const port = servers[0]?.port ?? 0;
    for (const replica of servers.slice(1)) await replica.command("REPLICAOF", loopback, port);
    while (sentinels.length < sentinelCount) sentinels.push(use(await openSentinel(port, options)));
    const group = groupOf(servers, sentinels, options);
    await group.primary();
    await until("the sentinels see every server and each other", async () => {
      return (await Promise.all(sentinels.map(isSettled))).every(Boolean);
    });
    return group;
  });
}

function openServer({ password }: SentinelsOptions): Promise<RedisServer> {
  const passwords = password === undefined ? {} : { requirepass: password, masterauth: password };
  const settings = { "repl-diskless-sync-delay": "0", "min-replicas-to-write": "1", ...passwords };
  return openRedisServer({ settings });
}

/** Sentinel needs a file, in which it keeps what it learns. */
function openSentinel(primaryPort: number, { password, sentinelPassword }: SentinelsOptions): Promise<RedisServer> {
  const lines = [
    `sentinel monitor ${name} ${loopback} ${primaryPort} ${quorum}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    `sentinel failover-timeout ${name} ${failoverTimeoutMs}`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${name} ${password}`]),
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
  ];
  return openRedisProcess({
    settings: {},
    ready: /Sentinel ID is/,
    password: sentinelPassword,
    async args(directory) {
      const file = join(directory, "sentinel.conf");
      if (!existsSync(file)) await writeFile(file, `${lines.join("\n")}\n`);
      return [file, "--sentinel"];
    },
  });
}

function groupOf(
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
  { password }: SentinelsOptions,
): Omit<RedisSentinels, keyof AsyncDisposable> {
  const addresses = sentinels.map(({ port }) => `${loopback}:${port}`);
  const primary: RedisSentinels["primary"] = ({ not } = {}) =>
    until("the sentinels name a primary", async () => {
      const [port, ...others] = new Set(await Promise.all(running(sentinels).map(primaryPortOf)));
      const named = running(servers).find((server) => server.port === port);
      const isAgreed = named !== undefined && named !== not && others.length === 0;
      return isAgreed && (await isPrimary(named)) && named;
    });
  return {
    url: `redis+sentinel://${password ? `:${encodeURIComponent(password)}@` : ""}${addresses.join()}/${name}`,
    name,
    servers,
    sentinels,
    primary,
    promotion: ({ not }) =>
      until("a replica becomes the primary", async () => {
        const others = running(servers).filter((server) => server !== not);
        const primaries = await Promise.all(others.map(isPrimary));
        return others[primaries.indexOf(true)];
      }),
  };
}

/** The leader of a failover names the new primary only when the failover is over. */
async function primaryPortOf(sentinel: RedisServer): Promise<number> {
  const fields = (await sentinel.command("SENTINEL", "MASTER", name)) as readonly string[];
  return Number(fields[fields.indexOf("port") + 1]);
}

async function isPrimary(server: RedisServer): Promise<boolean> {
  return (await roleOf(server))[0] === "master";
}

async function isSettled(sentinel: RedisServer): Promise<boolean> {
  const [verdict, replicas] = await Promise.all([
    sentinel.command("SENTINEL", "CKQUORUM", name).catch(String),
    sentinel.command("SENTINEL", "REPLICAS", name),
  ]);
  const views = (replicas as readonly (readonly string[])[]).map((fields) => fields.join(" "));
  const isLinked = (view: string) => / flags slave /.test(view) && / master-link-status ok /.test(view);
  const hasAll = views.length === serverCount - 1 && views.every(isLinked);
  return hasAll && String(verdict).startsWith(`OK ${sentinelCount} usable`);
}
