import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { application, type Cluster, clusterPaths, prepareCluster, readPassword, removeUnfinished } from "./cluster.js";
import { explain, explainOutput, isAlreadyRunning, isPortTaken } from "./failure.js";
import { claimOwnership, isServing, type Ownership } from "./ownership.js";
import { loopback } from "./port.js";
import { holdReserve, yieldReserve } from "./reserve.js";
import {
  isAlive,
  isRunning,
  type Postmaster,
  readPostmaster,
  type StartedServer,
  startServer,
  stopServer,
} from "./server.js";

export interface EmbeddedDatabaseOptions {
  /** Where everything lives: the cluster, its password, its log. Created, for its owner alone, when missing. */
  readonly directory: string;
  /** Whether a commit is on the disk before it is acknowledged. Default true; tests turn it off. */
  readonly durable?: boolean;
}

/** Owned by this process alone. Disposing stops the server within 5 s; a killed owner leaves it for the next one. */
export interface EmbeddedDatabase extends AsyncDisposable {
  /** With the password: not for logs. */
  readonly url: string;
  /** Resolves, with the reason in one line, when the server or its ownership goes away and nobody disposed of it. */
  readonly lost: Promise<Error>;
}

export type OpenedEmbeddedDatabase =
  /** `adopted`: the server was already running, left by an owner that was killed. */
  | { readonly kind: "opened"; readonly database: EmbeddedDatabase; readonly adopted: boolean }
  | { readonly kind: "in-use"; readonly holderPid: number };

interface Owned {
  readonly cluster: Cluster;
  readonly postmaster: Postmaster;
  readonly started: StartedServer | undefined;
  readonly ownership: Ownership;
}

interface Loss {
  readonly takenOver: boolean;
  readonly reason: Error;
}

const startTimeoutMs = 60_000;
const deadOwnerGraceMs = 500;
const crashRecoveryMs = 10_000;
const pollMs = 10;

/** Starts, adopts or refuses. Throws one line when it can do neither. */
export async function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<OpenedEmbeddedDatabase> {
  try {
    const cluster = await prepareCluster(resolve(options.directory), options.durable ?? true);
    const outcome = await startOrJoin(cluster);
    if ("holderPid" in outcome) return { kind: "in-use", holderPid: outcome.holderPid };
    await furnish(outcome);
    const adopted = outcome.started?.pid !== outcome.postmaster.pid;
    return { kind: "opened", database: embeddedDatabase(outcome), adopted };
  } catch (error) {
    throw explain(error);
  }
}

/** The address of the server that runs on this directory, for a process that does not own it; undefined when none runs. */
export async function embeddedDatabaseUrl(directory: string): Promise<string | undefined> {
  try {
    const postmaster = await readPostmaster(clusterPaths(directory).data);
    if (postmaster === undefined) return undefined;
    const password = await readPassword(directory);
    return (await isServing(postmaster.port, password)) ? databaseUrl(password, postmaster.port) : undefined;
  } catch (error) {
    throw explain(error);
  }
}

function databaseUrl(password: string, port: number): string {
  return `postgres://${application}:${password}@${loopback}:${port}/${application}`;
}

/**
 * Any number of processes may be in this loop. PostgreSQL lets one of their servers live, the lock picks one of them,
 * and the two need not be the same: then the winner adopts a server that another one has started.
 */
async function startOrJoin(cluster: Cluster): Promise<Owned | { readonly holderPid: number }> {
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const grace = AbortSignal.timeout(deadOwnerGraceMs);
  let started: StartedServer | undefined;
  let obstacle: unknown;
  while (!timeout.aborted) {
    const postmaster = await readPostmaster(cluster.data);
    const running = postmaster !== undefined && (await isRunning(postmaster, cluster.data));
    if (running) {
      const claim = await claimOwnership(cluster, postmaster.port);
      // The server takes a moment to notice that an owner was killed.
      if (claim.kind === "held" && (isAlive(claim.holderPid) || grace.aborted)) return { holderPid: claim.holderPid };
      if (claim.kind === "owner") {
        if (await isSteady(cluster, postmaster)) return { cluster, postmaster, started, ownership: claim.ownership };
        await claim.ownership.release();
        continue;
      }
      if (claim.kind === "unreachable") obstacle = claim.cause;
    }
    if (started?.hasExited()) {
      const log = await started.readLog();
      started = undefined;
      if (!isPortTaken(log) && !isAlreadyRunning(log)) throw explainOutput("postgres", log);
      obstacle = log;
      await delay(100);
    } else if (started === undefined && !running) {
      started = await startServer(cluster, postmaster);
    }
    await delay(pollMs);
  }
  throw new Error("The PostgreSQL of this data directory does not answer", { cause: obstacle });
}

async function furnish({ cluster, ownership, postmaster, started }: Owned): Promise<void> {
  try {
    await ownership.createDatabase();
    await removeUnfinished(cluster.directory);
    await holdReserve(cluster);
  } catch (error) {
    // Nobody gets a handle to dispose of.
    await stopServer(cluster, postmaster, started);
    throw error;
  }
}

/**
 * A server that its last owner is stopping ends the connections one by one, so that owner's lock can become free while
 * ours still lives. It marks the file before it ends the first.
 */
async function isSteady(cluster: Cluster, claimed: Postmaster): Promise<boolean> {
  const now = await readPostmaster(cluster.data);
  return now?.pid === claimed.pid && !now.stopping;
}

function embeddedDatabase(first: Owned): EmbeddedDatabase {
  const { cluster } = first;
  let owned = first;
  let stopped: Promise<void> | undefined;
  const stop = () => stopServer(cluster, owned.postmaster, owned.started);
  const lost = new Promise<Error>((resolveLost) => {
    const watch = async (): Promise<void> => {
      await owned.ownership.ended;
      if (stopped !== undefined) return;
      const next = await reclaim(owned);
      if ("ownership" in next) {
        const isAnother = next.postmaster.pid !== owned.postmaster.pid;
        owned = next;
        if (stopped === undefined) return await watch();
        // Whoever disposed meanwhile has stopped the one before.
        if (isAnother) await stop();
        return;
      }
      if (stopped !== undefined) return;
      // Whoever took over has to stop it.
      if (next.takenOver) stopped = Promise.resolve();
      resolveLost(next.reason);
    };
    watch().catch((error: unknown) => resolveLost(explain(error)));
  });
  return {
    url: databaseUrl(cluster.password, first.postmaster.port),
    lost,
    [Symbol.asyncDispose]: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** When one of its processes crashes, PostgreSQL ends every connection, ours too, recovers, and goes on. */
async function reclaim(owned: Owned): Promise<Owned | Loss> {
  const { cluster, postmaster } = owned;
  const wasFull = await yieldReserve(cluster);
  const timeout = AbortSignal.timeout(crashRecoveryMs);
  while (!timeout.aborted && (await isRunning(postmaster, cluster.data))) {
    const claim = await claimOwnership(cluster, postmaster.port);
    if (claim.kind === "owner") {
      await holdReserve(cluster);
      return { ...owned, ownership: claim.ownership };
    }
    if (claim.kind === "held") return takenOver(claim.holderPid);
    await delay(pollMs);
  }
  // It does not wait for the reserve to give way: where its recovery was faster, it has ended.
  if (wasFull && !timeout.aborted) return startAgain(owned);
  return { takenOver: false, reason: new Error("The embedded PostgreSQL stopped") };
}

async function startAgain({ cluster, postmaster }: Owned): Promise<Owned | Loss> {
  const next = await startOrJoin(cluster);
  if ("holderPid" in next) return takenOver(next.holderPid);
  if (next.postmaster.port !== postmaster.port) {
    await stopServer(cluster, next.postmaster, next.started);
    return { takenOver: false, reason: new Error("The port of the embedded PostgreSQL was taken meanwhile") };
  }
  await holdReserve(cluster);
  return next;
}

function takenOver(holderPid: number): Loss {
  return { takenOver: true, reason: new Error(`Process ${holderPid} took over the embedded PostgreSQL`) };
}
