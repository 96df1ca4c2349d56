/** Everything that can be set, read from the environment once, at start; every fault is reported, by name. */
import { z } from "zod";
import type { DatabaseConfig } from "./database/database.js";
import { defaultBanPolicy } from "./quota/ban-policy.js";
import type { QuotaConfig } from "./quota/open-quota.js";
import { notesOf, readSettings, type SettingNotes } from "./read-settings.js";
import { addressRanges, databaseUrl, flag, httpUrl, origin, redisUrls, share, whole } from "./setting.js";

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
  /** Where `/metrics` is served, on the same host and away from clients; nowhere when it is absent. */
  readonly metricsPort: number | undefined;
  /** How long a service that was told to stop still takes requests, for its balancer to notice. */
  readonly shutdownGraceMs: number;
  readonly shedding: SheddingConfig;
  /** Where traces are sent; without it nothing is traced. */
  readonly tracing: TracingConfig | undefined;
}

/** From when on requests are answered 503 at once, because they could only be late; 0 is never. */
export interface SheddingConfig {
  /** Delay of the event loop, or wait for a turn of it, for most of a second. */
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

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Names and values as in `process.env`; a secret also from the file that its name with `_FILE` tells. Throws an Error
 * with one line for every variable at fault, values never shown.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return toConfig(readSettings(environmentSchema, environment));
}

/** The database alone, for whoever needs nothing else: faults of other variables do not matter. */
export function readDatabaseConfig(environment: Readonly<Record<string, string | undefined>>): DatabaseConfig {
  return toDatabaseConfig(readSettings(z.object(databaseSettings), environment));
}

/** What can be set, in the order of the schema: what `.env.example` is made of. */
export function describeSettings(): SettingNotes[] {
  return notesOf(environmentSchema);
}

const databaseSettings = {
  DATABASE_URL: databaseUrl().meta({
    isSecret: true,
    description: `Where the PostgreSQL is (14 or later): postgres://user:password@host:port/database. Add ?pgbouncer=true
where a PgBouncer in transaction mode answers there.`,
  }),
  DATABASE_DIRECT_URL: databaseUrl()
    .optional()
    .meta({
      isSecret: true,
      description: `The same database past the PgBouncer, for the one connection of each instance that listens for changes.
Without it, and with a PgBouncer, changes of keys and plans are seen within 5 s instead of at once.`,
    }),
  DATABASE_POOL_SIZE: whole(1, 1_000)
    .default(10)
    .meta({
      description: `Connections of one instance, besides the one that listens. Of five or more, two are shared by the queries that only
read; the rest serve one statement at a time.`,
    }),
  DATABASE_ACQUIRE_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long a request waits for a free connection before it is answered 503.",
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long one statement may run before its request is answered 503.",
  }),
};

/** Each with what `.env.example` tells about it: `npm run generate` writes that file. */
const environmentSchema = z.object({
  ...databaseSettings,
  HOST: z.string().default("127.0.0.1").meta({ description: "The address to listen on; 0.0.0.0 for all of them." }),
  PORT: whole(0, 65_535).default(3_000).meta({ description: "0 takes a free one." }),
  METRICS_PORT: whole(0, 65_535).optional().meta({
    description: "Where /metrics is served, on the same host, away from clients; nowhere when it is absent.",
  }),
  PUBLIC_URL: origin().optional().meta({
    description:
      "Where clients reach the service, such as https://api.example.com; links are relative when it is absent.",
  }),
  STAGING_URL: origin().optional().meta({
    description: "Where a staging service is reached, for the OpenAPI document.",
  }),
  TRUST_PROXY: addressRanges().meta({
    description: "Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed, separated by commas.",
  }),
  REDIS_URL: redisUrls()
    .optional()
    .meta({
      isSecret: true,
      description: `Where the counters are shared: redis://user:password@host:port, rediss:// for TLS, several, separated by
commas, for Redis Cluster. Without it each instance counts for itself.`,
    }),
  REDIS_CLUSTER: flag().meta({ description: "Whether the one address given is a node of a Redis Cluster." }),
  REDIS_COMMAND_TIMEOUT_MS: whole(1, 10_000).default(80).meta({
    description: "How long a decision waits for Redis before this instance decides alone.",
  }),
  QUOTA_ON_REDIS_FAILURE: z.enum(["local", "deny"], { error: "must be local or deny" }).default("local").meta({
    description: "While Redis is away: each instance decides alone (local), or requests are answered 503 (deny).",
  }),
  QUOTA_INSTANCES: whole(1, 10_000).default(1).meta({
    description: "How many instances share the limits: each grants its part while Redis is away.",
  }),
  ANONYMOUS_REQUESTS_PER_MINUTE: whole(1, 1_000_000_000).default(300).meta({
    description: "What an address may ask without a valid key.",
  }),
  ANONYMOUS_REQUESTS_PER_DAY: whole(1, 1_000_000_000).default(10_000).meta({ description: "The same for a day." }),
  BAN_STRIKES: whole(0, 1_000_000).default(defaultBanPolicy.strikes).meta({
    description: "Calls in spite of a refusal that ban a key; 0 switches bans off.",
  }),
  BAN_GRACE_MS: whole(0, 60_000).default(defaultBanPolicy.graceMs).meta({
    description: "Refusals so soon after the first one were under way: they are no strikes.",
  }),
  BAN_EARLY_MS: whole(0, 60_000).default(defaultBanPolicy.earlyMs).meta({
    description: "Nor are those so shortly before the reset: clocks run a little fast.",
  }),
  BAN_FIRST_MS: whole(1, 86_400_000).default(defaultBanPolicy.firstBanMs).meta({
    description: "How long the first ban lasts; each further one doubles it.",
  }),
  BAN_LONGEST_MS: whole(1, 604_800_000).default(defaultBanPolicy.longestBanMs).meta({
    description: "What no ban exceeds.",
  }),
  BAN_MEMORY_MS: whole(0, 2_592_000_000).default(defaultBanPolicy.memoryMs).meta({
    description: "How long after a ban's end the next one is still longer.",
  }),
  SHUTDOWN_GRACE_MS: whole(0, 600_000).default(0).meta({
    description: "How long requests are served on after SIGTERM, until the balancer has seen that /readyz says no.",
  }),
  SHED_EVENT_LOOP_DELAY_MS: whole(0, 60_000).default(500).meta({
    description:
      "Above this delay of the event loop, or wait for a turn of it, most of a second, requests are answered 503; 0 is never.",
  }),
  SHED_DATABASE_QUEUE: whole(0, 1_000_000).default(1_000).meta({
    description: "When so many requests wait for a connection, further ones are answered 503; 0 is never.",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional().meta({
    description: "Where traces are sent, by OTLP over HTTP; nowhere when it is absent.",
  }),
  OTEL_SERVICE_NAME: z.string().default("petstore").meta({ description: "What traces call this service." }),
  OTEL_TRACES_SAMPLER_ARG: share().default(1).meta({
    description: "The share of traces that begin here and are recorded, from 0 to 1.",
  }),
  LOG_LEVEL: z
    .enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` })
    .default("info")
    .meta({
      description: `One of ${logLevels.join(", ")}.`,
    }),
});

function toDatabaseConfig(environment: z.output<z.ZodObject<typeof databaseSettings>>): DatabaseConfig {
  return {
    url: environment.DATABASE_URL,
    directUrl: environment.DATABASE_DIRECT_URL,
    poolSize: environment.DATABASE_POOL_SIZE,
    acquireTimeoutMs: environment.DATABASE_ACQUIRE_TIMEOUT_MS,
    statementTimeoutMs: environment.DATABASE_STATEMENT_TIMEOUT_MS,
  };
}

function toConfig(environment: z.output<typeof environmentSchema>): Config {
  return {
    database: toDatabaseConfig(environment),
    quota: {
      banPolicy: {
        strikes: environment.BAN_STRIKES,
        graceMs: environment.BAN_GRACE_MS,
        earlyMs: environment.BAN_EARLY_MS,
        firstBanMs: environment.BAN_FIRST_MS,
        longestBanMs: environment.BAN_LONGEST_MS,
        memoryMs: environment.BAN_MEMORY_MS,
      },
      anonymousLimits: {
        perMinute: environment.ANONYMOUS_REQUESTS_PER_MINUTE,
        perDay: environment.ANONYMOUS_REQUESTS_PER_DAY,
      },
      redis: environment.REDIS_URL && {
        urls: environment.REDIS_URL,
        isCluster: environment.REDIS_CLUSTER || environment.REDIS_URL.length > 1,
        commandTimeoutMs: environment.REDIS_COMMAND_TIMEOUT_MS,
      },
      instances: environment.QUOTA_INSTANCES,
      onRedisFailure: environment.QUOTA_ON_REDIS_FAILURE,
    },
    http: {
      host: environment.HOST,
      port: environment.PORT,
      publicUrl: environment.PUBLIC_URL,
      stagingUrl: environment.STAGING_URL,
      trustedProxies: environment.TRUST_PROXY,
      metricsPort: environment.METRICS_PORT,
      shutdownGraceMs: environment.SHUTDOWN_GRACE_MS,
      shedding: {
        eventLoopDelayMs: environment.SHED_EVENT_LOOP_DELAY_MS,
        databaseQueue: environment.SHED_DATABASE_QUEUE,
      },
      tracing:
        environment.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
          ? undefined
          : {
              endpoint: environment.OTEL_EXPORTER_OTLP_ENDPOINT,
              serviceName: environment.OTEL_SERVICE_NAME,
              sampledShare: environment.OTEL_TRACES_SAMPLER_ARG,
            },
    },
    logLevel: environment.LOG_LEVEL,
  };
}
