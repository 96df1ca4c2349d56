/** What can be configured. `read-config.ts` reads it from the environment. */
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
  /** Where clients reach the service, without a path; links are relative when it is absent. */
  readonly publicUrl: string | undefined;
  /** Where the staging environment is reached, without a path; only the OpenAPI document names it. */
  readonly stagingUrl: string | undefined;
  /** Proxies whose X-Forwarded-For is believed, as addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** The address of `/metrics` and detailed probes, away from clients. Not served where the port is absent. */
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  /** Connections one client address may hold; 0 is no limit. */
  readonly maxConnectionsPerAddress: number;
  /** How long a service that was told to stop still takes requests, for its balancer to notice. */
  readonly shutdownGraceMs: number;
  readonly shedding: SheddingConfig;
  /** Where traces are sent; without it nothing is traced. */
  readonly tracing: TracingConfig | undefined;
}

/** From when on requests are answered 503 at once, because they could only be late; 0 is never. */
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
  /** The share of traces that begin here and are recorded; one that began elsewhere goes by its own flag. */
  readonly sampledShare: number;
}

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
