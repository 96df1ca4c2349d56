import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { loopback } from "@petstore/embedded-postgres";
import { nowMs } from "../network/answer.js";
import { type Balancer, startPrimaryBalancer } from "../network/balancer.js";
import { searchPath } from "../processes/installed-program.js";
import { openTogether, until } from "../processes/resources.js";
import { openEtcdServer } from "./etcd-server.js";
import { clusterName, openPatroniNode, type PatroniNode } from "./patroni-node.js";
import { query } from "./postgres-server.js";

/** Three PostgreSQL nodes under Patroni, one of them a synchronous standby, behind an HAProxy that finds the primary. */
export interface PatroniCluster extends AsyncDisposable {
  /** The primary through HAProxy, for a role that owns its database. */
  readonly url: string;
  primary(): Promise<PatroniNode>;
  synchronousStandby(): Promise<PatroniNode>;
  /** Resolves when one node is the primary and the two others follow it, one of them synchronously. */
  untilComplete(): Promise<void>;
  /** Resolves with the time at which another node than this one is a primary. */
  untilPromoted(old: PatroniNode): Promise<number>;
  /** Makes the synchronous standby the primary. Resolves when Patroni has done it. */
  switchover(): Promise<void>;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  /** Bytes that a standby has not received yet. */
  readonly lag?: number | "unknown";
}

/** Rejects on a machine without `patroni`, `etcd` or `haproxy`. */
export function openPatroniCluster(): Promise<PatroniCluster> {
  return openTogether(async (use) => {
    const etcd = use(await openEtcdServer());
    const first = use(await openPatroniNode("node1", etcd));
    const others = [use(await openPatroniNode("node2", etcd)), use(await openPatroniNode("node3", etcd))];
    const nodes = [first, ...others];
    first.start();
    await until("the first node is the primary", first.isPrimary);
    for (const node of others) node.start();
    const cluster = clusterOf(nodes, use(await startPrimaryBalancer(nodes)));
    await cluster.untilComplete();
    const { url } = await cluster.primary();
    await query(url, "create role petstore login password 'petstore'");
    await query(url, "create database petstore owner petstore");
    return cluster;
  });
}

function clusterOf(nodes: readonly PatroniNode[], { port }: Balancer): Omit<PatroniCluster, keyof AsyncDisposable> {
  async function holderOf(role: string): Promise<PatroniNode> {
    const holder = (await membersOf(nodes)).find((member) => member.role === role);
    const node = nodes.find(({ name }) => name === holder?.name);
    if (node === undefined) throw new Error(`No node is the ${role}`);
    return node;
  }

  return {
    url: `postgresql://petstore:petstore@${loopback}:${port}/petstore`,
    primary: () => holderOf("leader"),
    synchronousStandby: () => holderOf("sync_standby"),
    async untilComplete() {
      await until("the cluster is complete", async () => isComplete(await membersOf(nodes)));
    },
    async untilPromoted(old) {
      const others = nodes.filter((node) => node !== old);
      await until("a standby is promoted", async () => {
        return (await Promise.all(others.map((node) => node.isPrimary()))).includes(true);
      });
      return nowMs();
    },
    async switchover() {
      const [primary, standby] = [await holderOf("leader"), await holderOf("sync_standby")];
      const names = ["--leader", primary.name, "--candidate", standby.name];
      const args = ["-c", primary.configFile, "switchover", clusterName, ...names, "--force"];
      await promisify(execFile)("patronictl", args, { env: { PATH: searchPath(), LC_ALL: "C.UTF-8" } });
    },
  };
}

/** As any node that runs sees them; empty if none answers. */
async function membersOf(nodes: readonly PatroniNode[]): Promise<readonly Member[]> {
  const answers = nodes.map(async ({ restPort }) => {
    const response = await fetch(`http://${loopback}:${restPort}/cluster`, { signal: AbortSignal.timeout(2_000) });
    return (await response.json()) as { readonly members: readonly Member[] };
  });
  const { members } = await Promise.any(answers).catch(() => ({ members: [] }));
  return members;
}

function isComplete(members: readonly Member[]): boolean {
  const leader = members.find(({ role }) => role === "leader");
  const roles = members.map(({ role }) => role).sort();
  const isFollowing = ({ timeline, state, lag }: Member) =>
    timeline === leader?.timeline && /^(running|streaming)$/.test(state) && (lag ?? 0) === 0;
  return roles.join() === "leader,replica,sync_standby" && members.every(isFollowing);
}
