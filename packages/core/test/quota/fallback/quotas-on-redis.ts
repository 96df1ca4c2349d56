import { randomUUID } from "node:crypto";
import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted } from "../../../src/quota/decision.js";
import type { SentinelLogin } from "../../../src/quota/engines/redis-behind-sentinel.js";
import { openQuotas, type QuotaConfig, type Quotas } from "../../../src/quota/open-quota.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { recordLog } from "../../logs.js";

export interface RedisQuotasOptions extends Partial<Pick<QuotaConfig, "failureMode" | "instances">>, SentinelLogin {
  readonly urls: readonly string[];
  /** By default longer than a healthy Redis needs on a busy machine. */
  readonly decisionTimeoutMs?: number;
}

/** Opens the quotas of one instance as a service does, and keeps the messages that it logs. */
export async function openQuotasOnRedis(options: RedisQuotasOptions): Promise<Quotas & ReturnType<typeof recordLog>> {
  const { urls, failureMode = "local", instances = 1, decisionTimeoutMs = 1_000, ...sentinelLogin } = options;
  const recorded = recordLog();
  const config = {
    banPolicy: { ...defaultBanPolicy, minimumStrikes: 0 },
    anonymousLimits: { perMinute: 300, perDay: 10_000 },
    redis: { ...sentinelLogin, urls, isCluster: urls.length > 1, decisionTimeoutMs },
    instances,
    failureMode,
  };
  const quotas = await openQuotas(config, { log: recorded.log, now: Date.now });
  return { ...quotas, ...recorded };
}

/** A new account that is limited by its day alone: no minute ends in the middle of a test. */
export function newAccount(perDay: number): Reservation {
  return { account: randomUUID(), limits: { perMinute: 1_000_000, perDay }, cost: 1 };
}

/** Makes that many calls at once. Rejects unless all are admitted. */
export async function admitAll(
  { accounts }: Quotas,
  reservation: Reservation,
  calls: number,
): Promise<[Admitted, ...Admitted[]]> {
  const decisions = await Promise.all(Array.from({ length: calls }, () => accounts.reserve(reservation)));
  const [first, ...others] = decisions.filter((decision) => decision.outcome === "admitted");
  if (first === undefined || others.length < calls - 1) throw new Error(`${calls} calls were not all admitted`);
  return [first, ...others];
}

export const messages = {
  shared: "quotas are shared through Redis",
  unavailable: "Redis is unavailable: quotas are not shared",
  recovered: "Redis recovered: quotas are shared again",
} as const;
