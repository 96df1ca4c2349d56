// On a full disk an application should fail to write, and nothing else. But PostgreSQL ends when a checkpoint cannot write
// its small files, and the recovery afterwards needs a checkpoint too, so nobody could even read. This file holds some
// space. It is removed when the server starts, recovers or stops on a full disk.
import { open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "./cluster.js";

/** One WAL segment of 16 MiB, and the other files of a checkpoint. */
const reserveBytes = 24 * 1024 * 1024;
/** The first connections after a start write a cache of the catalogue, and fail without it. */
const connectBytes = 2 * 1024 * 1024;
const chunk = 1024 * 1024;

/** Removes the reserve if the disk is full, and returns whether it is. */
export async function releaseReserve(cluster: Cluster): Promise<boolean> {
  // The server has to stop even after its directory was removed.
  const disk = await statfs(cluster.directory).catch(() => undefined);
  const isFull = disk !== undefined && disk.bavail * disk.bsize < reserveBytes;
  if (isFull) await rm(reserveFile(cluster), { force: true });
  return isFull;
}

/** Writes the reserve, or as much as fits if the disk is nearly full. A server for tests has none. */
export async function holdReserve(cluster: Cluster): Promise<void> {
  const size = (await stat(reserveFile(cluster)).catch(() => undefined))?.size ?? 0;
  if (!cluster.durable || size >= reserveBytes) return;
  const disk = await statfs(cluster.directory);
  const wanted = Math.min(reserveBytes, disk.bavail * disk.bsize - connectBytes);
  try {
    await using file = await open(reserveFile(cluster), "w", 0o600);
    for (let written = 0; written < wanted; written += chunk) await file.write(Buffer.alloc(chunk));
  } catch {
    // Another program filled the disk. The next start writes the rest.
  }
}

function reserveFile(cluster: Cluster): string {
  return join(cluster.root, "reserve");
}
