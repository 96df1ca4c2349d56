import { readFile } from "node:fs/promises";
import type { Service } from "./service.js";

/** What the largest of the processes holds in memory, in MiB. */
export async function largestMebibytes(services: readonly Service[]): Promise<number> {
  return Math.max(...(await Promise.all(services.map(residentMebibytes))));
}

export async function residentMebibytes({ pid }: Service): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}
