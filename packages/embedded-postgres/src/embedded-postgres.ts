import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { explainOutput } from "./account.js";
import { type Cluster, clusterPaths, prepareCluster, removeUnfinished } from "./cluster.js";
import { connectWithScram, databaseUrl } from "./connection.js";
import { claimOwnership, type InUse, type Owned } from "./ownership.js";
import { holdReserve, releaseReserve } from "./reserve.js";
import { preparePassword, readPassword } from "./roles.js";
import { isAlive, isRunning, readPostmaster, type StartedServer, startServer, stopServer } from "./server.js";

/** Owned by this process alone. Disposing stops the server within 5 s. The next owner adopts the server of a killed one. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** For services: its role reads and writes rows, and nothing else. With the password: not for logs. */
  readonly url: string;
  /** For migrations: its role owns the database. With the password: not for logs. */
  readonly ownerUrl: string;
  /** Resolves when this process owns no server any more, with the reason in one line. */
  readonly lost: Promise<Error>;
}

const startTimeoutMs = 60_000;
const deadOwnerGraceMs = 500;
const pollMs = 50;
/** Another program takes the port, or another server of this data runs or still has processes. */
const passingFailure =
  /Address already in use|could not create any TCP\/IP sockets|"postmaster\.pid" already exists|pre-existing shared memory/;
/** If PostgreSQL ends more often within a minute, another start would not help. */
const maxRecoveries = 5;
const recoveriesWindowMs = 60_000;

/** Starts or adopts the server of a directory, or names its owner. Throws one line when it can do neither. */
export async function openEmbeddedPostgres(
  directory: string,
  now: () => number = () => performance.now(),
): Promise<EmbeddedPostgres | InUse> {
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
    return { url, ownerUrl, ...keepOwning(cluster, owned, now) };
  } catch (error) {
    // The caller gets nothing that it could dispose of.
    await stopServer(cluster, postmaster);
    throw error;
  }
}

/**
 * For a process that does not own the server: the services' address, or undefined if no server runs. A server that was
 * killed leaves `postmaster.pid`, and another program may listen on its port.
 */
export async function embeddedPostgresUrl(directory: string): Promise<string | undefined> {
  const { root, data } = clusterPaths(directory);
  const postmaster = await readPostmaster(data);
  if (postmaster === undefined || !(await isRunning(postmaster, data))) return undefined;
  const password = await readPassword(root, "service");
  // The owner of the cluster has not set one yet.
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
 * Several processes may run this loop at once. PostgreSQL lets one of their servers live, and one process gets the lock,
 * maybe not the one that started that server. It then adopts the server. An owner that lost its connection claims the
 * ownership again, and gives its `disposal`, at which this rejects when the caller can stop the server.
 */
async function startOrJoin(cluster: Cluster, disposal?: AbortSignal): Promise<Owned | InUse> {
  const timeout = AbortSignal.timeout(startTimeoutMs);
  const grace = AbortSignal.timeout(deadOwnerGraceMs);
  let started: StartedServer | undefined;
  while (!timeout.aborted) {
    const postmaster = await readPostmaster(cluster.data);
    // The caller finds a server by its file, which a new server writes a moment after its start.
    if (started === undefined || started.pid === postmaster?.pid) disposal?.throwIfAborted();
    const running = postmaster !== undefined && (await isRunning(postmaster, cluster.data));
    if (running) {
      const claim = await claimOwnership(cluster, postmaster).catch(async (refusal: unknown) => {
        // A server that another process started may have an owner.
        if (started?.pid === postmaster.pid) await stopServer(cluster, postmaster);
        throw refusal;
      });
      if (claim !== undefined && "client" in claim) return claim;
      if (claim !== undefined) {
        // The server takes a moment to notice that our last connection ended, or that an owner was killed.
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
function keepOwning(
  cluster: Cluster,
  first: Owned,
  now: () => number,
): Pick<EmbeddedPostgres, "lost"> & AsyncDisposable {
  const disposal = new AbortController();
  let current: Promise<Owned | InUse> = Promise.resolve(first);
  const watch = async (): Promise<Error> => {
    let endedAtMs: readonly number[] = [];
    for (;;) {
      const outcome = await current;
      if ("holderPid" in outcome) return new Error(`Process ${outcome.holderPid} took over the embedded PostgreSQL`);
      await outcome.ended;
      disposal.signal.throwIfAborted();
      const nowMs = now();
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
    // The new owner has to stop the server.
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
 * When one of its processes crashes, PostgreSQL ends every connection, ours too, recovers, and goes on. On a full disk, it
 * ends if that recovery was faster than the removal of the reserve. A server that has ended is started again.
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
