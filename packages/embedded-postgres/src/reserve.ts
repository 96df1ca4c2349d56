// On a full disk an application should fail to write, and nothing else. But PostgreSQL ends when a checkpoint cannot write
// its small files, and the recovery afterwards needs a checkpoint too, so nobody could even read. This file holds some
// space. It is removed before the server starts or recovers, and written again afterwards. Nothing asks whether the disk
// is full: under a quota, or with blocks reserved for root, a file system reports space that PostgreSQL cannot have.
import { appendFile, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "./cluster.js";

/** One WAL segment of 16 MiB, and the other files of a checkpoint. */
const reserveBytes = 24 * 1024 * 1024;
/** The first connections after a start write a cache of the catalogue, and fail without it. */
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
