import { setTimeout as sleep } from "node:timers/promises";
import { loopback } from "@petstore/embedded-postgres";
import { disposeOnFailure } from "../processes/program.js";
import { openRedisServer, type RedisServer } from "./redis-server.js";

/** A Redis Cluster of three masters, and its changes. Disposing ends every node in any state. */
export interface RedisCluster extends AsyncDisposable {
  /** The first three began as masters. */
  readonly nodes: readonly RedisServer[];
  masterOf(key: string): Promise<RedisServer>;
  slotOf(key: string): Promise<number>;
  /**
   * Makes the replica of a master the new master, with CLUSTER FAILOVER or by killing the master. Resolves with the new
   * master when every node knows it.
   */
  failover(master: RedisServer, by?: "command" | "kill"): Promise<RedisServer>;
}

const masterCount = 3;
const slotCount = 16_384;
const timeoutMs = 15_000;

/** @param replicas the number of replicas of each master */
export async function openRedisCluster({ replicas = 0 }: { readonly replicas?: 0 | 1 } = {}): Promise<RedisCluster> {
  const settings = {
    "cluster-enabled": "yes",
    // A node that is silent this long counts as failed. A replica takes over about a second later.
    "cluster-node-timeout": "1000",
    // A replica may always take over.
    "cluster-replica-validity-factor": "0",
    "repl-diskless-sync": "yes",
    "repl-diskless-sync-delay": "0",
  };
  const nodes: RedisServer[] = [];
  const cluster = clusterOf(nodes);
  const start = async () => {
    while (nodes.length < masterCount * (1 + replicas)) nodes.push(await openRedisServer({ settings }));
    await form(nodes);
    await settle(nodes);
  };
  await disposeOnFailure(cluster, start());
  return cluster;
}

function clusterOf(nodes: readonly RedisServer[]): RedisCluster {
  return {
    nodes,
    slotOf: async (key) => Number(await running(nodes)[0]?.command("CLUSTER", "KEYSLOT", key)),
    masterOf(key) {
      // The other nodes answer MOVED, and so does the replica.
      return find(nodes, (node) => succeeds(node.command("EXISTS", key)));
    },
    async failover(master, by = "command") {
      const replica = await find(nodes, async (node) => (await masterPortOf(node)) === master.port);
      await settle(nodes);
      await (by === "kill" ? master.kill() : replica.command("CLUSTER", "FAILOVER"));
      await until(async () => (await masterPortOf(replica)) === undefined);
      await settle(nodes);
      return replica;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

/** Gives the masters equal shares of the slots. Each other node becomes a replica. */
async function form(nodes: readonly RedisServer[]): Promise<void> {
  const masters = nodes.slice(0, masterCount);
  for (const [index, master] of masters.entries()) {
    const [first, end] = [index, index + 1].map((share) => Math.round((share * slotCount) / masterCount));
    const slots = Array.from({ length: slotCount }, (_, slot) => slot).slice(first, end);
    await master.command("CLUSTER", "ADDSLOTS", ...slots);
    // Different epochs, so that the nodes have no conflict to resolve.
    await master.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
  }
  // Every node meets every other node, because gossip takes seconds.
  for (const [index, node] of nodes.entries()) {
    for (const other of nodes.slice(index + 1)) await node.command("CLUSTER", "MEET", loopback, other.port);
  }
  for (const [index, replica] of nodes.slice(masterCount).entries()) {
    const master = masters[index];
    if (master === undefined) continue;
    const id = String(await master.command("CLUSTER", "MYID"));
    // It refuses until it knows the master.
    await until(() => succeeds(replica.command("CLUSTER", "REPLICATE", id)));
  }
}

function running(nodes: readonly RedisServer[]): readonly RedisServer[] {
  return nodes.filter(({ state }) => state === "running");
}

async function find(
  nodes: readonly RedisServer[],
  isMeant: (node: RedisServer) => Promise<boolean>,
): Promise<RedisServer> {
  for (const node of running(nodes)) if (await isMeant(node)) return node;
  throw new Error("No running node of the cluster is the one");
}

async function succeeds(command: Promise<unknown>): Promise<boolean> {
  const [result] = await Promise.allSettled([command]);
  return result.status === "fulfilled";
}

/** The port of the master of a replica; `undefined` for a master. */
async function masterPortOf(node: RedisServer): Promise<number | undefined> {
  const role = await node.command("ROLE");
  return Array.isArray(role) && role[0] === "slave" ? Number(role[2]) : undefined;
}

/** Resolves when the running nodes agree on nodes and slots, serve every slot, and the replicas are connected. */
async function settle(nodes: readonly RedisServer[]): Promise<void> {
  await until(async () => {
    const views = await Promise.all(running(nodes).map(viewOf));
    const ports = new Set(views[0]?.match(/"127\.0\.0\.1",\d+/g));
    if (new Set(views).size !== 1 || ports.size !== running(nodes).length) return false;
    return (await Promise.all(running(nodes).map(isInStep))).every(Boolean);
  });
}

/** The ranges of slots with their nodes as text, which is equal when two nodes agree. */
async function viewOf(node: RedisServer): Promise<string> {
  const ranges = await node.command("CLUSTER", "SLOTS");
  return Array.isArray(ranges)
    ? ranges
        .map((range) => JSON.stringify(range))
        .sort()
        .join()
    : "";
}

async function isInStep(node: RedisServer): Promise<boolean> {
  const [info, role] = await Promise.all([node.command("CLUSTER", "INFO"), node.command("ROLE")]);
  const isLinked = !Array.isArray(role) || role[0] !== "slave" || role[3] === "connected";
  return isLinked && String(info).includes("cluster_state:ok");
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`The cluster did not get there within ${timeoutMs} ms`);
    await sleep(20);
  }
}
