import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loopback } from "@petstore/embedded-postgres";
import { disposeOnFailure } from "../processes/program.js";
import { openRedisProcess, openRedisServer, type RedisServer } from "./redis-server.js";

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
  /** Resolves when all sentinels see each other, and a primary with all other servers as its replicas. */
  settle(): Promise<void>;
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
const timeoutMs = 30_000;

export async function openRedisSentinels(options: SentinelsOptions = {}): Promise<RedisSentinels> {
  const servers: RedisServer[] = [];
  const sentinels: RedisServer[] = [];
  const group = groupOf(servers, sentinels, options);
  const start = async () => {
    while (servers.length < serverCount) servers.push(await openServer(options));
    const [primary, ...replicas] = servers;
    for (const replica of replicas) await replica.command("REPLICAOF", loopback, primary?.port ?? 0);
    while (sentinels.length < sentinelCount) sentinels.push(await openSentinel(primary?.port ?? 0, options));
    await group.settle();
  };
  await disposeOnFailure(group, start());
  return group;
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
): RedisSentinels {
  const primary: RedisSentinels["primary"] = ({ not } = {}) =>
    wait("the sentinels name a primary", async () => {
      const addresses = await Promise.all(running(sentinels).map(primaryPortOf));
      const [port, ...others] = new Set(addresses);
      const named = servers.find((server) => server.port === port);
      const isAgreed = named !== undefined && named !== not && others.length === 0 && named.state === "running";
      return isAgreed && (await isPrimary(named)) ? named : undefined;
    });
  return {
    get url() {
      const addresses = sentinels.map(({ port }) => `${loopback}:${port}`);
      return `redis+sentinel://${password ? `:${encodeURIComponent(password)}@` : ""}${addresses.join()}/${name}`;
    },
    name,
    servers,
    sentinels,
    primary,
    promotion: ({ not }) =>
      wait("a replica becomes the primary", async () => {
        const others = running(servers).filter((server) => server !== not);
        const primaries = await Promise.all(others.map(isPrimary));
        return others[primaries.indexOf(true)];
      }),
    async settle() {
      await primary();
      await wait("the sentinels see every server and each other", async () => {
        const views = await Promise.all(running(sentinels).map(isSettled));
        return views.every(Boolean) || undefined;
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...sentinels, ...servers].map((process) => process[Symbol.asyncDispose]()));
    },
  };
}

function running(processes: readonly RedisServer[]): readonly RedisServer[] {
  return processes.filter(({ state }) => state === "running");
}

/** The leader of a failover names the new primary only when the failover is over. */
async function primaryPortOf(sentinel: RedisServer): Promise<number> {
  const fields = await sentinel.command("SENTINEL", "MASTER", name);
  return Array.isArray(fields) ? Number(fields[fields.indexOf("port") + 1]) : 0;
}

async function isPrimary(server: RedisServer): Promise<boolean> {
  const role = await server.command("ROLE");
  return Array.isArray(role) && role[0] === "master";
}

async function isSettled(sentinel: RedisServer): Promise<boolean> {
  const [verdict, replicas] = await Promise.all([
    sentinel.command("SENTINEL", "CKQUORUM", name).catch(String),
    sentinel.command("SENTINEL", "REPLICAS", name),
  ]);
  const views = (Array.isArray(replicas) ? replicas : []).map((fields: readonly string[]) => fields.join(" "));
  const isLinked = (view: string) => / flags slave /.test(view) && / master-link-status ok /.test(view);
  const hasAll = views.length === serverCount - 1 && views.every(isLinked);
  return hasAll && String(verdict).startsWith(`OK ${sentinelCount} usable`);
}

async function wait<Found>(what: string, find: () => Promise<Found | undefined>): Promise<Found> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await sleep(20);
  }
}
