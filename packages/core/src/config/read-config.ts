/** The configuration of a service. It is read once, from environment variables, which `.env.example` describes. */
import { z } from "zod";
import type { DatabaseConfig } from "../database/connection-config.js";
import type { Brownout } from "../deprecation.js";
import { defaultBanPolicy } from "../quota/ban-policy.js";
import type { QuotaConfig } from "../quota/open-quota.js";
import { brownouts } from "./brownouts.js";
import { type Environment, readSettings, type Setting, secret, setting, unusable } from "./read-settings.js";
import {
  addressRanges,
  contact,
  databaseUrl,
  flag,
  headers,
  httpUrl,
  origin,
  redisUrls,
  share,
  utcTime,
  whole,
} from "./setting-values.js";

export interface Config {
  readonly database: DatabaseConfig;
  readonly quota: QuotaConfig;
  readonly usage: UsageConfig;
  readonly http: HttpConfig;
  readonly log: LogConfig;
  /** The store holds no real data, so test keys work. */
  readonly isTestStore: boolean;
}

interface UsageConfig {
  /** How long the usage history is kept. */
  readonly retentionDays: number;
}

export interface HttpConfig {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly stagingUrl: string | undefined;
  /** A URI for reports of vulnerabilities (RFC 9116). */
  readonly securityContact: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  /** 0 is no limit. */
  readonly maxConnectionsPerAddress: number;
  readonly shutdownGraceMs: number;
  readonly shedding: SheddingConfig;
  readonly tracing: TracingConfig | undefined;
  readonly deprecation: DeprecationConfig;
}

/** When the deprecated operation is refused, beside its removal. */
export interface DeprecationConfig {
  /** In order of time, with pauses between them. */
  readonly brownouts: readonly Brownout[];
  /** The time, in epoch milliseconds, that a test store takes for the time of its start when it decides this. */
  readonly testClockMs: number | undefined;
}

/** 0 switches a limit off. */
export interface SheddingConfig {
  readonly eventLoopDelayMs: number;
  readonly databaseQueue: number;
}

export interface TracingConfig {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly serviceName: string;
  readonly sampledShare: number;
}

export interface LogConfig {
  readonly level: LogLevel;
  /** Readable lines instead of JSON. If undefined: only if standard output is a terminal. */
  readonly isPretty: boolean | undefined;
  readonly serviceName: string;
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

const failureModes = z.enum(["local", "deny"], { error: "must be local or deny" });

const logLevel = z.enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` });

const tables = {
  database: {
    url: secret("DATABASE_URL", databaseUrl),
    directUrl: secret("DATABASE_DIRECT_URL", databaseUrl.optional()),
    poolSize: setting("DATABASE_POOL_SIZE", whole(1, 1_000).default(20)),
    acquireTimeoutMs: setting("DATABASE_ACQUIRE_TIMEOUT_MS", whole(1, 60_000).default(1_000)),
    readTimeoutMs: setting("DATABASE_READ_TIMEOUT_MS", whole(1, 60_000).default(1_000)),
    writeTimeoutMs: setting("DATABASE_WRITE_TIMEOUT_MS", whole(1, 60_000).default(3_000)),
  },
  http: {
    host: setting("HOST", z.string().default("127.0.0.1")),
    port: setting("PORT", whole(0, 65_535).default(3_000)),
    metricsPort: setting("METRICS_PORT", whole(0, 65_535).optional()),
    metricsHost: setting("METRICS_HOST", z.string().default("127.0.0.1")),
    publicUrl: setting("PUBLIC_URL", origin.optional()),
    stagingUrl: setting("STAGING_URL", origin.optional()),
    securityContact: setting("SECURITY_CONTACT", contact.optional()),
    trustedProxies: setting("TRUST_PROXY", addressRanges),
    maxConnectionsPerAddress: setting("MAX_CONNECTIONS_PER_ADDRESS", whole(0, 1_000_000).optional()),
    shutdownGraceMs: setting("SHUTDOWN_GRACE_MS", whole(0, 600_000).default(0)),
  },
  redis: {
    urls: secret("REDIS_URL", redisUrls.optional()),
    sentinelUsername: setting("REDIS_SENTINEL_USERNAME", z.string().optional()),
    sentinelPassword: secret("REDIS_SENTINEL_PASSWORD", z.string().optional()),
    isCluster: setting("REDIS_CLUSTER", flag.default(false)),
    decisionTimeoutMs: setting("REDIS_COMMAND_TIMEOUT_MS", whole(1, 10_000).default(80)),
  },
  quota: {
    failureMode: setting("QUOTA_ON_REDIS_FAILURE", failureModes.default("local")),
    instances: setting("QUOTA_INSTANCES", whole(1, 10_000).default(1)),
  },
  anonymousLimits: {
    perMinute: setting("ANONYMOUS_REQUESTS_PER_MINUTE", whole(1, 1_000_000_000).default(300)),
    perDay: setting("ANONYMOUS_REQUESTS_PER_DAY", whole(1, 1_000_000_000).default(10_000)),
  },
  banPolicy: {
    minimumStrikes: setting("BAN_STRIKES", whole(0, 1_000_000).default(defaultBanPolicy.minimumStrikes)),
    strikesPerUnit: setting("BAN_STRIKES_PER_UNIT", whole(0, 1_000).default(defaultBanPolicy.strikesPerUnit)),
    longestEpisodeMs: setting("BAN_EPISODE_MS", whole(1, 86_400_000).default(defaultBanPolicy.longestEpisodeMs)),
    graceMs: setting("BAN_GRACE_MS", whole(0, 60_000).default(defaultBanPolicy.graceMs)),
    earlyMs: setting("BAN_EARLY_MS", whole(0, 60_000).default(defaultBanPolicy.earlyMs)),
    firstBanMs: setting("BAN_FIRST_MS", whole(1, 86_400_000).default(defaultBanPolicy.firstBanMs)),
    longestBanMs: setting("BAN_LONGEST_MS", whole(1, 604_800_000).default(defaultBanPolicy.longestBanMs)),
    memoryMs: setting("BAN_MEMORY_MS", whole(0, 2_592_000_000).default(defaultBanPolicy.memoryMs)),
  },
  usage: { retentionDays: setting("USAGE_RETENTION_DAYS", whole(1, 3_650).default(400)) },
  shedding: {
    eventLoopDelayMs: setting("SHED_EVENT_LOOP_DELAY_MS", whole(0, 60_000).default(500)),
    databaseQueue: setting("SHED_DATABASE_QUEUE", whole(0, 1_000_000).default(1_000)),
  },
  tracing: {
    endpoint: setting("OTEL_EXPORTER_OTLP_ENDPOINT", httpUrl.optional()),
    headers: secret("OTEL_EXPORTER_OTLP_HEADERS", headers.optional()),
    serviceName: setting("OTEL_SERVICE_NAME", z.string().default("petstore")),
    sampledShare: setting("OTEL_TRACES_SAMPLER_ARG", share.default(1)),
  },
  log: {
    level: setting("LOG_LEVEL", logLevel.default("info")),
    isPretty: setting("LOG_PRETTY", flag.optional()),
  },
  access: { isTestStore: setting("TEST_STORE", flag.default(false)) },
  deprecation: {
    testClockMs: setting("TEST_CLOCK", utcTime.optional()),
    brownouts: setting("DEPRECATION_BROWNOUTS", brownouts),
  },
};

/** Every setting, for the test of `.env.example`. */
export const settings: readonly Setting<unknown>[] = Object.values(tables).flatMap((table) => Object.values(table));

export function readConfig(environment: Environment): Config {
  const {
    database,
    http,
    redis,
    quota,
    usage,
    anonymousLimits,
    banPolicy,
    shedding,
    tracing,
    log,
    access,
    deprecation,
  } = readSettings(tables, withNewNames(environment));
  if (deprecation.testClockMs !== undefined && !access.isTestStore) {
    throw unusable([
      "TEST_CLOCK must be left out: only a test store, with TEST_STORE=true, may have a clock of its own",
    ]);
  }
  const { maxConnectionsPerAddress = http.trustedProxies.length > 0 ? 0 : 1_000 } = http;
  const { urls, isCluster } = redis;
  const { endpoint } = tracing;
  return {
    database,
    quota: {
      ...quota,
      banPolicy,
      anonymousLimits,
      redis: urls && { ...redis, urls, isCluster: isCluster || urls.length > 1 },
    },
    usage,
    http: {
      ...http,
      maxConnectionsPerAddress,
      shedding,
      tracing: endpoint ? { ...tracing, endpoint } : undefined,
      deprecation,
    },
    log: { ...log, serviceName: tracing.serviceName },
    isTestStore: access.isTestStore,
  };
}

/** Ignores faults of variables that do not configure the database. */
export function readDatabaseConfig(environment: Environment): DatabaseConfig {
  return readSettings({ database: tables.database }, withNewNames(environment)).database;
}

/** Accepts the setting names of earlier versions, because both versions may run with one environment. */
function withNewNames({ DATABASE_STATEMENT_TIMEOUT_MS: ofBoth, ...environment }: Environment): Environment {
  return {
    ...environment,
    DATABASE_READ_TIMEOUT_MS: environment.DATABASE_READ_TIMEOUT_MS || ofBoth,
    DATABASE_WRITE_TIMEOUT_MS: environment.DATABASE_WRITE_TIMEOUT_MS || ofBoth,
  };
}
