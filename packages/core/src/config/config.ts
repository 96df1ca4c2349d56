/** The configuration of a service. `read-config.ts` reads it from the environment. */
import type { DatabaseConfig } from "../database/database.js";
import type { QuotaConfig } from "../quota/open-quota.js";

export interface Config {
  readonly database: DatabaseConfig;
  readonly quota: QuotaConfig;
  readonly http: HttpConfig;
  readonly logLevel: LogLevel;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  /** The address for clients, without a path. Without it, links are relative. */
  readonly publicUrl: string | undefined;
  /** The address of the staging environment, without a path; only the OpenAPI document names it. */
  readonly stagingUrl: string | undefined;
  /** Addresses or CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** The address of `/metrics` and detailed probes, which clients must not reach. Not served without the port. */
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  /** Connections one client address may hold; 0 is no limit. */
  readonly maxConnectionsPerAddress: number;
  /** How long a service still takes requests after SIGTERM, until its balancer notices. */
  readonly shutdownGraceMs: number;
  readonly shedding: SheddingConfig;
  /** The receiver of traces. Without it, nothing is traced. */
  readonly tracing: TracingConfig | undefined;
}

/** Above these limits, requests get a 503 response at once, because they would only be late; 0 is never. */
export interface SheddingConfig {
  /** Delay of the event loop, for most of a second. */
  readonly eventLoopDelayMs: number;
  /** Requests that wait for a database connection. */
  readonly databaseQueue: number;
}

export interface TracingConfig {
  /** The base address of an OTLP receiver over HTTP; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** The share of traces to record, of those that begin here. A trace that began elsewhere has its own flag. */
  readonly sampledShare: number;
}

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
