// A full disk refuses writes, and that is all an application should see. But a checkpoint that cannot write its small files
// ends PostgreSQL, and so does the recovery afterwards, which ends in a checkpoint: nobody could even read until space is
// made. So some space is held by a file, which gives way whenever the server starts, recovers or stops on a full disk.
import { open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, clusterPaths } from "./cluster.js";

/** One WAL segment, 16 MiB, and what a checkpoint writes beside it. */
const reserveBytes = 24 * 1024 * 1024;
/** The first connections after a start write a cache of the catalogue, and fail without it. */
const connectBytes = 2 * 1024 * 1024;
const chunk = 1024 * 1024;

/** Whether the disk is full, so that the reserve gave way. */
export async function yieldReserve(cluster: Cluster): Promise<boolean> {
  // Whoever removed the directory still needs the server stopped.
  const disk = await statfs(cluster.directory).catch(() => undefined);
  const isFull = disk !== undefined && disk.bavail * disk.bsize < reserveBytes;
  if (isFull) await rm(reserveFile(cluster), { force: true });
  return isFull;
}

/** As much as there is room for, but not the last of it. A server for tests holds none. */
export async function holdReserve(cluster: Cluster): Promise<void> {
  if (!cluster.durable || (await isComplete(cluster))) return;
  const disk = await statfs(cluster.directory);
  const size = Math.min(reserveBytes, disk.bavail * disk.bsize - connectBytes);
  try {
    await using file = await open(reserveFile(cluster), "w", 0o600);
    for (let written = 0; written < size; written += chunk) await file.write(Buffer.alloc(chunk));
  } catch {
    // Somebody else filled the disk meanwhile: what fitted is the reserve, and the next start tries again.
  }
}

async function isComplete(cluster: Cluster): Promise<boolean> {
  const size = await stat(reserveFile(cluster)).then(
    (file) => file.size,
    () => 0,
  );
  return size >= reserveBytes;
}

function reserveFile(cluster: Cluster): string {
  return join(clusterPaths(cluster.directory).root, "reserve");
}
