import { setTimeout as sleep } from "node:timers/promises";
import { loopback } from "@petstore/embedded-postgres";
import { type KnownNode, ownsSlot, parseClusterNodes, summarize } from "./cluster-view.js";
import { openRedisServer, type RedisServer } from "./redis-server.js";

export interface RedisClusterOptions {
  /** The number of replicas of each master. */
  readonly replicas?: 0 | 1;
}

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

export async function openRedisCluster({ replicas = 0 }: RedisClusterOptions = {}): Promise<RedisCluster> {
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
  try {
    while (nodes.length < masterCount * (1 + replicas)) nodes.push(await openRedisServer({ settings }));
    await form(nodes);
    await settle(nodes);
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}

function clusterOf(nodes: readonly RedisServer[]): RedisCluster {
  const serverOf = ({ port }: KnownNode): RedisServer => {
    const server = nodes.find((node) => node.port === port);
    if (server === undefined) throw new Error(`Port ${port} is of no node of this cluster`);
    return server;
  };
  const slotOf = async (key: string) => Number(await running(nodes)[0]?.command("CLUSTER", "KEYSLOT", key));

  return {
    nodes,
    slotOf,
    async masterOf(key) {
      const slot = await slotOf(key);
      const selves = await Promise.all(running(nodes).map(selfOf));
      const owner = selves.find((self) => ownsSlot(self, slot));
      if (owner === undefined) throw new Error(`No running node owns slot ${slot}`);
      return serverOf(owner);
    },
    async failover(master, by = "command") {
      const { id } = await selfOf(master);
      const known = (await viewOf(master)).find(({ masterId, hasFailed }) => masterId === id && !hasFailed);
      if (known === undefined) throw new Error("This node has no replica");
      const replica = serverOf(known);
      await settle(nodes);
      await (by === "kill" ? master.kill() : replica.command("CLUSTER", "FAILOVER"));
      await until(async () => (await selfOf(replica)).role === "master");
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
    const { id } = await selfOf(master);
    await until(async () => (await viewOf(replica)).some((node) => node.id === id));
    await replica.command("CLUSTER", "REPLICATE", id);
  }
}

function running(nodes: readonly RedisServer[]): readonly RedisServer[] {
  return nodes.filter(({ state }) => state === "running");
}

/** Resolves when the running nodes agree on nodes and slots, serve every slot, and the replicas are connected. */
async function settle(nodes: readonly RedisServer[]): Promise<void> {
  await until(async () => {
    const views = await Promise.all(running(nodes).map(viewOf));
    if (new Set(views.map(summarize)).size !== 1) return false;
    if (views[0]?.filter((node) => !node.hasFailed).length !== running(nodes).length) return false;
    return (await Promise.all(running(nodes).map(isInStep))).every(Boolean);
  });
}

async function isInStep(node: RedisServer): Promise<boolean> {
  const [info, role] = await Promise.all([node.command("CLUSTER", "INFO"), node.command("ROLE")]);
  const isLinked = !Array.isArray(role) || role[0] !== "slave" || role[3] === "connected";
  return isLinked && String(info).includes("cluster_state:ok");
}

async function viewOf(node: RedisServer): Promise<readonly KnownNode[]> {
  return parseClusterNodes(String(await node.command("CLUSTER", "NODES")));
}

async function selfOf(node: RedisServer): Promise<KnownNode> {
  const self = (await viewOf(node)).find(({ isSelf }) => isSelf);
  if (self === undefined) throw new Error("A node does not list itself");
  return self;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`The cluster did not get there within ${timeoutMs} ms`);
    await sleep(20);
  }
}
