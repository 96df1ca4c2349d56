import { readFile } from "node:fs/promises";
import {
  type ServiceOptions as ProcessOptions,
  type Service as ServiceProcess,
  startService as startProcess,
} from "@petstore/harness/processes";
import { unhurried } from "@petstore/test-store/store-database";
import { type Api, rest } from "./apis.js";

export interface Service extends ServiceProcess {
  readonly api: Api;
}

export interface Instance extends Omit<ProcessOptions, "environment" | "main"> {
  /** The REST API by default. */
  readonly api?: Api;
}

/** Environment variables of a service. */
export type Settings = Readonly<Record<string, string>>;

/** For tests without a fault of Redis: on a busy machine, the default of 80 ms would cause an outage. */
export const slowRedisAllowed: Settings = { REDIS_COMMAND_TIMEOUT_MS: "5000" };
/** For tests without a fault of Redis or PostgreSQL. */
export const faultless: Settings = { ...slowRedisAllowed, ...unhurried };
/** For tests that send more requests without a key than an address may send. */
export const unthrottled: Settings = {
  ANONYMOUS_REQUESTS_PER_MINUTE: "1000000000",
  ANONYMOUS_REQUESTS_PER_DAY: "1000000000",
};

export async function startService({ api = rest, ...options }: Instance, environment: Settings): Promise<Service> {
  return { ...(await startProcess({ ...options, main: api.main, environment })), api };
}

/** The memory of a process now (VmRSS) or at most since its start (VmHWM), in MiB. */
export async function mebibytesOf({ pid }: Pick<Service, "pid">, field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024;
}
