import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { choosePort, loopback } from "@petstore/embedded-postgres";
import { openTogether, until } from "../processes/resources.js";
import { openRedisServer, type RedisServer, roleOf, running } from "./redis-server.js";

/** A Redis Cluster of three masters, and its changes. Disposing ends every node in any state. */
export interface RedisCluster extends AsyncDisposable {
  /** The first three began as masters. */
  readonly nodes: readonly RedisServer[];
  masterOf(key: string): Promise<RedisServer>;
  /**
   * Makes the replica of a master the new master, with CLUSTER FAILOVER or by killing the master. Resolves with the new
   * master when every node knows it.
   */
  failover(master: RedisServer, by?: "command" | "kill"): Promise<RedisServer>;
  /** Moves the slot of a key, with all its keys, to another master. Resolves when every node knows it. */
  moveSlot(key: string, target: RedisServer): Promise<void>;
}

const masterCount = 3;
const keysPerStep = 100;
const migrateTimeoutMs = 5_000;
const settings = {
  "cluster-enabled": "yes",
  // A node that is silent this long counts as failed. A replica takes over about a second later.
  "cluster-node-timeout": "1000",
  // The other masters continue when one has failed, as the operations guide asks.
  "cluster-require-full-coverage": "no",
  // A replica may always take over.
  "cluster-replica-validity-factor": "0",
  "repl-diskless-sync": "yes",
  "repl-diskless-sync-delay": "0",
};

/** @param replicas the number of replicas of each master */
export function openRedisCluster({ replicas = 0 }: { readonly replicas?: 0 | 1 } = {}): Promise<RedisCluster> {
  return openTogether(async (use) => {
    const nodes: RedisServer[] = [];
    while (nodes.length < masterCount * (1 + replicas)) nodes.push(use(await openNode()));
    const addresses = nodes.map(({ port }) => `${loopback}:${port}`);
    const options = ["--cluster-replicas", `${replicas}`, "--cluster-yes"];
    await promisify(execFile)("redis-cli", ["--cluster", "create", ...addresses, ...options]);
    await settle(nodes);
    return clusterOf(nodes);
  });
}

/** By default a node also listens 10,000 above its own port, where Linux takes ports for outgoing connections. */
async function openNode(): Promise<RedisServer> {
  return openRedisServer({ settings: { ...settings, "cluster-port": `${await choosePort(undefined)}` } });
}

function clusterOf(nodes: readonly RedisServer[]): Omit<RedisCluster, keyof AsyncDisposable> {
  const masterOf: RedisCluster["masterOf"] = (key) => {
    // The other nodes answer MOVED, and so does the replica.
    const hasKey = (node: RedisServer) =>
      node.command("EXISTS", key).then(
        () => true,
        () => false,
      );
    return find(nodes, hasKey);
  };
  return {
    nodes,
    masterOf,
    async failover(master, by = "command") {
      const replica = await find(nodes, async (node) => (await masterPortOf(node)) === master.port);
      await settle(nodes);
      await (by === "kill" ? master.kill() : replica.command("CLUSTER", "FAILOVER"));
      await until("the replica is a master", async () => (await masterPortOf(replica)) === undefined);
      await settle(nodes);
      return replica;
    },
    async moveSlot(key, target) {
      const source = await masterOf(key);
      const slot = Number(await source.command("CLUSTER", "KEYSLOT", key));
      const [sourceId, targetId] = (await Promise.all(
        [source, target].map((node) => node.command("CLUSTER", "MYID")),
      )) as [string, string];
      await target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceId);
      await source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
      for (;;) {
        const keys = (await source.command("CLUSTER", "GETKEYSINSLOT", slot, keysPerStep)) as readonly string[];
        if (keys.length === 0) break;
        await source.command("MIGRATE", loopback, target.port, "", 0, migrateTimeoutMs, "KEYS", ...keys);
      }
      // The new owner first: if the old one gave the slot away before, nobody would have it.
      for (const node of [target, source]) await node.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
      await settle(nodes);
    },
  };
}

async function find(
  nodes: readonly RedisServer[],
  isMeant: (node: RedisServer) => Promise<boolean>,
): Promise<RedisServer> {
  for (const node of running(nodes)) if (await isMeant(node)) return node;
  throw new Error("No running node of the cluster is the one");
}

/** The port of the master of a replica; `undefined` for a master. */
async function masterPortOf(node: RedisServer): Promise<number | undefined> {
  const [role, , masterPort] = await roleOf(node);
  return role === "slave" ? Number(masterPort) : undefined;
}

/** Resolves when the running nodes agree on nodes and slots, serve every slot, and the replicas are connected. */
async function settle(nodes: readonly RedisServer[]): Promise<void> {
  await until("the nodes of the cluster agree", async () => {
    const views = await Promise.all(running(nodes).map(viewOf));
    const ports = new Set(views[0]?.match(/"127\.0\.0\.1",\d+/g));
    if (new Set(views).size !== 1 || ports.size !== running(nodes).length) return false;
    return (await Promise.all(running(nodes).map(isInStep))).every(Boolean);
  });
}

/** The ranges of slots with their nodes as text, which is equal when two nodes agree. */
async function viewOf(node: RedisServer): Promise<string> {
  const ranges = (await node.command("CLUSTER", "SLOTS")) as readonly unknown[];
  return ranges
    .map((range) => JSON.stringify(range))
    .sort()
    .join();
}

async function isInStep(node: RedisServer): Promise<boolean> {
  const [info, [role, , , link]] = await Promise.all([node.command("CLUSTER", "INFO"), roleOf(node)]);
  return (role !== "slave" || link === "connected") && String(info).includes("cluster_state:ok");
}
