import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { explainOutput } from "./account.js";
import { type Cluster, clusterPaths, prepareCluster, removeUnfinished } from "./cluster.js";
import { connectWithScram, databaseUrl } from "./connection.js";
import { claimOwnership, type InUse, type Owned } from "./ownership.js";
import { holdReserve, releaseReserve } from "./reserve.js";
import { preparePassword, readPassword } from "./roles.js";
import { isAlive, isRunning, readPostmaster, type StartedServer, startServer, stopServer } from "./server.js";

/** Owned by this process alone. Disposing stops the server within 5 s. If its owner is killed, the next owner adopts it. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** For services: its role may only read and write rows. It contains the password, so do not log it. */
  readonly url: string;
  /** For migrations: its role owns the database. It contains the password, so do not log it. */
  readonly ownerUrl: string;
  /** Resolves when this process owns no server any more, with the reason in one line. */
  readonly lost: Promise<Error>;
}

const startTimeoutMs = 60_000;
const deadOwnerGraceMs = 500;
const pollMs = 50;
/** Another program took the port, or another server of this data still has processes. */
const passingFailure =
  /Address already in use|could not create any TCP\/IP sockets|"postmaster\.pid" already exists|pre-existing shared memory/;
/** After more recoveries within a minute, another one would not help. */
const maxRecoveries = 5;
const recoveriesWindowMs = 60_000;

/** Starts or adopts the server of a directory, or returns the process that owns it. Otherwise throws one line. */
export async function openEmbeddedPostgres(directory: string): Promise<EmbeddedPostgres | InUse> {
  const cluster = await prepareCluster(resolve(directory));
  const owned = await startOrJoin(cluster);
  if ("holderPid" in owned) return owned;
  const { client, postmaster } = owned;
  const urlOf = async (role: "service" | "owner") => {
    const password = await preparePassword(cluster.root, role, (statement) => client.query(statement));
    return databaseUrl(role, password, postmaster.port);
  };
  try {
    const url = await urlOf("service");
    const ownerUrl = await urlOf("owner");
    await removeUnfinished(cluster.directory);
    await holdReserve(cluster);
    return { url, ownerUrl, ...keepOwning(cluster, owned) };
  } catch (error) {
    await stopServer(cluster, postmaster);
    throw error;
  }
}

/**
 * For a process that does not own the server: the address for services, or undefined if no server runs. This connects,
 * because a killed server leaves `postmaster.pid`, and another program may listen on its port.
 */
export async function embeddedPostgresUrl(directory: string): Promise<string | undefined> {
  const { root, data } = clusterPaths(directory);
  const postmaster = await readPostmaster(data);
  if (postmaster === undefined || !(await isRunning(postmaster, data))) return undefined;
  const password = await readPassword(root, "service");
  // The owner of the cluster has not set a password yet.
  if (password === undefined) return undefined;
  try {
    const { client } = await connectWithScram("service", password, postmaster.port);
    await client.end();
    return databaseUrl("service", password, postmaster.port);
  } catch {
    return undefined;
  }
}

/**
 * Several processes may run this loop at once. PostgreSQL lets one server run. The process that gets the lock owns this
 * server, even if another process started it. An owner that lost its connection passes its `disposal`: if `disposal` is
 * aborted, this rejects as soon as the caller can stop the server.
 */
async function startOrJoin(cluster: Cluster, disposal?: AbortSignal): Promise<Owned | InUse> {
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const grace = AbortSignal.timeout(deadOwnerGraceMs);
  let started: StartedServer | undefined;
  while (!timeout.aborted) {
    const postmaster = await readPostmaster(cluster.data);
    // The caller can stop only a server that has written `postmaster.pid`.
    if (started === undefined || started.pid === postmaster?.pid) disposal?.throwIfAborted();
    const running = postmaster !== undefined && (await isRunning(postmaster, cluster.data));
    if (running) {
      const claim = await claimOwnership(cluster, postmaster).catch(async (refusal: unknown) => {
        // If another process started the server, it may have an owner.
        if (started?.pid === postmaster.pid) await stopServer(cluster, postmaster);
        throw refusal;
      });
      if (claim !== undefined && "client" in claim) return claim;
      if (claim !== undefined) {
        // The server holds the lock for a moment after our last connection ended, or after its owner was killed.
        const isOurs = disposal !== undefined && claim.holderPid === process.pid;
        if (!isOurs && (isAlive(claim.holderPid) || grace.aborted)) return claim;
      }
    }
    const failure = await started?.readFailure();
    if (failure !== undefined) {
      if (!passingFailure.test(failure)) throw explainOutput("postgres", cluster.data, failure);
      started = undefined;
    } else if (started === undefined && !running) {
      started = await startServer(cluster, postmaster);
    }
    await delay(pollMs);
  }
  throw new Error(`PostgreSQL does not answer: see ${cluster.logFile}`);
}

/** Claims the ownership again after each recovery of the server, until it is disposed of or lost. */
function keepOwning(cluster: Cluster, first: Owned): Pick<EmbeddedPostgres, "lost"> & AsyncDisposable {
  const disposal = new AbortController();
  let current: Promise<Owned | InUse> = Promise.resolve(first);
  const watch = async (): Promise<Error> => {
    let endedAtMs: readonly number[] = [];
    for (;;) {
      const outcome = await current;
      if ("holderPid" in outcome) return new Error(`Process ${outcome.holderPid} took over the embedded PostgreSQL`);
      await outcome.ended;
      disposal.signal.throwIfAborted();
      const nowMs = performance.now();
      endedAtMs = [...endedAtMs.filter((ms) => nowMs - ms < recoveriesWindowMs), nowMs];
      if (endedAtMs.length > maxRecoveries) {
        return new Error(`PostgreSQL ended ${endedAtMs.length} times within a minute: see ${cluster.logFile}`);
      }
      current = recover(cluster, outcome.postmaster.port, disposal.signal);
    }
  };
  const stop = async (): Promise<void> => {
    disposal.abort();
    const outcome = await current.catch(() => undefined);
    // The new owner stops the server.
    if (outcome !== undefined && "holderPid" in outcome) return;
    await stopServer(cluster, await readPostmaster(cluster.data));
  };
  let stopped: Promise<void> | undefined;
  return {
    lost: watch().catch((error: Error) => error),
    [Symbol.asyncDispose]: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * After a crash of one of its processes, PostgreSQL ends every connection, recovers and continues. On a full disk it ends if
 * its recovery needs space before this has removed the reserve. A server that has ended is started again.
 */
async function recover(cluster: Cluster, port: number, disposal: AbortSignal): Promise<Owned | InUse> {
  await releaseReserve(cluster);
  const next = await startOrJoin(cluster, disposal);
  if ("holderPid" in next) return next;
  if (next.postmaster.port !== port) {
    await stopServer(cluster, next.postmaster);
    throw new Error("Another program took the port of the embedded PostgreSQL");
  }
  await holdReserve(cluster);
  return next;
}
