/** The configuration of a service. `read-config.ts` reads it from the environment, and `.env.example` describes it. */
import type { DatabaseConfig } from "../database/database.js";
import type { QuotaConfig } from "../quota/open-quota.js";

export interface Config {
  readonly database: DatabaseConfig;
  readonly quota: QuotaConfig;
  readonly http: HttpConfig;
  readonly log: LogConfig;
  /** The store holds no real data, so test keys work. */
  readonly isTestStore: boolean;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly stagingUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly metricsHost: string;
  /** Without it, the metrics are not served. */
  readonly metricsPort: number | undefined;
  /** 0 is no limit. */
  readonly maxConnectionsPerAddress: number;
  readonly shutdownGraceMs: number;
  readonly shedding: SheddingConfig;
  /** Without it, nothing is traced. */
  readonly tracing: TracingConfig | undefined;
}

/** 0 switches a limit off. */
export interface SheddingConfig {
  readonly eventLoopDelayMs: number;
  readonly databaseQueue: number;
}

export interface TracingConfig {
  readonly endpoint: string;
  /** The headers of every export. They may hold the key of a hosted receiver. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly serviceName: string;
  readonly sampledShare: number;
}

export interface LogConfig {
  readonly level: LogLevel;
  /** Lines for people instead of JSON. Undefined: if standard output is a terminal. */
  readonly isPretty: boolean | undefined;
  readonly serviceName: string;
}

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
