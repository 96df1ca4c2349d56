/**
 * Keeps the shards of a Redis Cluster (decision 0040). ioredis asks the nodes for the owners of the slots when it connects, and after
 * each reply that names another owner. It then emits `refresh`, and the shards follow the slots:
 *
 * | the slots of a shard now belong to | the shard |
 * |---|---|
 * | the same server; a few slots may have been added or taken away | stays |
 * | another server: a replica was promoted, or the master has a new address | stays, with this server |
 * | servers of other shards | ends |
 * | a server that had no slots | stays with its old server. A new shard begins |
 *
 * Before the first `refresh`, one shard without a server has all slots. It becomes the first shard.
 */
import calculateSlot from "cluster-key-slot";
import type { Cluster, Redis } from "ioredis";
import type { Shard, Shards } from "./shards.js";

interface ClusterShard extends Shard {
  /** The address of its server. `undefined` before the first `refresh`. */
  master: string | undefined;
  lowestSlot: number;
  error: Error | undefined;
  /** Tells the listeners of `onLoss`. */
  lose(): void;
}

const slotCount = 16_384;

export function watchClusterShards(cluster: Cluster): Shards {
  /** The connections of ioredis by their addresses. */
  const nodes = new Map<string, Redis>();
  const moveListeners: ((slots: readonly number[]) => void)[] = [];
  const first = createShard();
  const shardOfSlot = new Array<ClusterShard>(slotCount).fill(first);
  let shards: readonly ClusterShard[] = [first];

  cluster.on("+node", (node: Redis) => {
    const address = addressOf(node);
    nodes.set(address, node);
    node.on("ready", () => setError(address, undefined));
    node.on("close", () => {
      if (nodes.get(address) === node) shardAt(address)?.lose();
    });
  });
  cluster.on("-node", (node: Redis) => {
    const address = addressOf(node);
    // ioredis may have replaced it.
    if (nodes.get(address) === node) nodes.delete(address);
  });
  cluster.on("node error", (error: Error, address: string) => {
    // ioredis also reports a question for the slots, on a connection of its own, that was not answered.
    if (nodes.get(address)?.status !== "ready") setError(address, error);
  });
  // No node could be used.
  cluster.on("error", (error: Error & { readonly lastNodeError?: Error }) => {
    for (const shard of shards) shard.error = error.lastNodeError ?? error;
  });
  cluster.on("refresh", followSlots);

  function createShard(): ClusterShard {
    const listeners: (() => void)[] = [];
    const shard: ClusterShard = {
      master: undefined,
      lowestSlot: 0,
      error: undefined,
      lose() {
        for (const listener of listeners) listener();
      },
      name: () => (shard.master === undefined ? undefined : `${shard.lowestSlot}`),
      address: () => shard.master,
      isReady() {
        const node = connection(shard);
        return cluster.status === "ready" && node?.status === "ready" && node.stream.writable;
      },
      onLoss: (listener) => void listeners.push(listener),
      connectError: () => shard.error,
      connect() {
        // Otherwise the cluster is connecting already.
        if (cluster.status === "ready") refreshSlots(cluster);
      },
      reconnect: () => connection(shard)?.disconnect(),
      accountToProbe(account) {
        if (account !== undefined && shardOfSlot[slotOf(account)] === shard) return account;
        if (!shards.includes(shard)) return undefined;
        // With n equal shards, one of n numbers is right on average.
        let number = 0;
        while (shardOfSlot[slotOf(`${number}-`)] !== shard) number += 1;
        return `${number}-`;
      },
    };
    return shard;
  }

  function connection({ master }: ClusterShard): Redis | undefined {
    return master === undefined ? undefined : nodes.get(master);
  }

  function shardAt(address: string): ClusterShard | undefined {
    return shards.find(({ master }) => master === address);
  }

  function setError(address: string, error: Error | undefined): void {
    const shard = shardAt(address);
    if (shard !== undefined) shard.error = error;
  }

  function followSlots(): void {
    const slotsOfMasters = readSlots(cluster);
    const free = new Set(shards);
    const shardOfMaster = new Map<string, ClusterShard>();
    for (const master of slotsOfMasters.keys()) {
      const shard = shardAt(master);
      if (shard === undefined) continue;
      shardOfMaster.set(master, shard);
      free.delete(shard);
    }
    const replaced: ClusterShard[] = [];
    for (const [master, [lowest = 0]] of slotsOfMasters) {
      if (shardOfMaster.has(master)) continue;
      const before = shardOfSlot[lowest];
      const isFailover = before !== undefined && free.delete(before);
      const shard = isFailover ? before : createShard();
      shard.master = master;
      shardOfMaster.set(master, shard);
      if (isFailover) replaced.push(shard);
    }
    const moved: number[] = [];
    for (const [master, slots] of slotsOfMasters) {
      const shard = shardOfMaster.get(master);
      if (shard === undefined) continue;
      shard.lowestSlot = slots[0] ?? 0;
      for (const slot of slots) {
        if (shardOfSlot[slot] === shard) continue;
        shardOfSlot[slot] = shard;
        moved.push(slot);
      }
    }
    shards = [...new Set(shardOfSlot)];
    if (cluster.status === "ready") void connectMasters(cluster);
    for (const listener of moveListeners) listener(moved);
    // A promoted replica may lack units, and the old master may have counted until now.
    for (const shard of replaced) shard.lose();
  }

  return {
    slotCount,
    slotOf,
    shardOf: (slot) => shardOfSlot[slot] ?? first,
    all: () => shards,
    onMove: (listener) => void moveListeners.push(listener),
  };
}

/** ioredis connects to a node on the first call to that node, and fails further calls until it is connected. */
export async function connectMasters(cluster: Cluster): Promise<void> {
  const masters = cluster.nodes("master").filter(({ status }) => status === "wait");
  await Promise.allSettled(masters.map((master) => master.connect()));
}

/** The keys of an account have its name in braces, and only this text decides their slot. */
function slotOf(account: string): number {
  return calculateSlot(`{${account}}`);
}

function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

/** Asks the nodes for the owners of the slots, and creates the connections that are missing. */
function refreshSlots(cluster: Cluster): void {
  cluster.refreshSlotsCache((error) => {
    // No node has answered, so all may have new addresses: ask those of the configuration.
    if (error && cluster.status === "ready") cluster.disconnect(true);
  });
}

/** The slots of each master, in ascending order. The masters are in the order of their lowest slots. */
function readSlots(cluster: Cluster): ReadonlyMap<string, readonly number[]> {
  const slotsOfMasters = new Map<string, number[]>();
  for (let slot = 0; slot < slotCount; slot += 1) {
    const master = cluster.slots[slot]?.[0];
    if (master === undefined) continue;
    const slots = slotsOfMasters.get(master);
    if (slots === undefined) slotsOfMasters.set(master, [slot]);
    else slots.push(slot);
  }
  return slotsOfMasters;
}
