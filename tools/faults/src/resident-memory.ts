import { readFile } from "node:fs/promises";
import type { Service } from "./service.js";

/** What the largest of the processes holds in memory, in MiB. */
export async function largestMebibytes(services: readonly Service[]): Promise<number> {
  return Math.max(...(await Promise.all(services.map(residentMebibytes))));
}

export function residentMebibytes(service: Service): Promise<number> {
  return mebibytesOf(service, "VmRSS");
}

/** The most that the process has held since it started. */
export function peakMebibytes(service: Service): Promise<number> {
  return mebibytesOf(service, "VmHWM");
}

async function mebibytesOf({ pid }: Service, field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024;
}
