// On a full disk, services should still read. But PostgreSQL ends when it cannot write the files of a checkpoint, and its
// recovery needs a checkpoint too. So the reserve file holds some space. It is removed before the server starts or recovers,
// and written again afterwards. The free space is not read: with a disk quota, or blocks reserved for root, it is wrong.
import { appendFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "./cluster.js";

/** One WAL segment of 16 MiB, and the other files of a checkpoint. */
const reserveBytes = 24 * 1024 * 1024;
/** Stays free: the first connections after a start write a cache of the catalogue, and fail if they cannot. */
const connectBytes = 2 * 1024 * 1024;

export async function releaseReserve(cluster: Cluster): Promise<void> {
  await rm(reserveFile(cluster), { force: true });
}

/** Writes the reserve, or as much as fits if the disk is nearly full. The next start then writes the rest. */
export async function holdReserve(cluster: Cluster): Promise<void> {
  const file = reserveFile(cluster);
  const held = await sizeOf(file);
  if (held >= reserveBytes) return;
  const missing = Buffer.alloc(reserveBytes + connectBytes - held);
  await appendFile(file, missing, { mode: 0o600 }).catch(() => {});
  await truncate(file, Math.max(held, (await sizeOf(file)) - connectBytes)).catch(() => {});
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

function reserveFile(cluster: Cluster): string {
  return join(cluster.root, "reserve");
}
