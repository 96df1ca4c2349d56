/** Reads the configuration from environment variables, once, at start. Every invalid one is reported, by name. */
import { z } from "zod";
import type { DatabaseConfig } from "../database/database.js";
import { defaultBanPolicy } from "../quota/ban-policy.js";
import { type Config, logLevels } from "./config.js";
import { notesOf, readSettings, type SettingNotes } from "./read-settings.js";
import { addressRanges, databaseUrl, flag, httpUrl, origin, redisUrls, share, whole } from "./setting.js";

/**
 * Names and values as in `process.env`; a secret also from the file that its name with `_FILE` tells. Throws an Error
 * with one line for every variable at fault, values never shown.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  return toConfig(readSettings(environmentSchema, withNewNames(environment)));
}

/** The database alone, for whoever needs nothing else: faults of other variables do not matter. */
export function readDatabaseConfig(environment: Readonly<Record<string, string | undefined>>): DatabaseConfig {
  return toDatabaseConfig(readSettings(z.object(databaseSettings), withNewNames(environment)));
}

/** Accepts the setting names of earlier versions, because both versions may run with one environment. */
function withNewNames({
  DATABASE_STATEMENT_TIMEOUT_MS: ofBoth,
  ...environment
}: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return {
    ...environment,
    DATABASE_READ_TIMEOUT_MS: environment.DATABASE_READ_TIMEOUT_MS || ofBoth,
    DATABASE_WRITE_TIMEOUT_MS: environment.DATABASE_WRITE_TIMEOUT_MS || ofBoth,
  };
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
      description: `Connections of one instance, besides two: one listens for changes, one serves /readyz. Of five or more, two
are shared by the queries that only read; the rest serve one statement at a time.`,
    }),
  DATABASE_ACQUIRE_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long a request waits for a free connection before it is answered 503.",
  }),
  DATABASE_READ_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long a statement that only reads may run before its request is answered 503.",
  }),
  DATABASE_WRITE_TIMEOUT_MS: whole(1, 60_000)
    .default(3_000)
    .meta({
      description: `The same for a statement that writes: a commit waits for the disk. Behind a PgBouncer, the role has to set it too.
DATABASE_STATEMENT_TIMEOUT_MS, the name of earlier versions, still sets both where they are absent.`,
    }),
};

/** Each with what `.env.example` tells about it: `npm run generate` writes that file. */
const environmentSchema = z.object({
  ...databaseSettings,
  HOST: z.string().default("127.0.0.1").meta({ description: "The address to listen on; 0.0.0.0 for all of them." }),
  PORT: whole(0, 65_535).default(3_000).meta({ description: "0 takes a free one." }),
  METRICS_PORT: whole(0, 65_535).optional().meta({
    description: "Where /metrics, and /livez and /readyz with details, are served; nowhere when it is absent.",
  }),
  METRICS_HOST: z
    .string()
    .default("127.0.0.1")
    .meta({
      description: `The address METRICS_PORT listens on. What is shown there is for operators: 0.0.0.0 only where clients cannot
reach the port.`,
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
  MAX_CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000)
    .optional()
    .meta({
      description: `Connections one client address may hold; further ones are closed at once. 0 is no limit. When it is absent: 1000,
or 0 where TRUST_PROXY is set, because all connections come from the proxies then.`,
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
    description: "Requests without a valid key that each instance answers to one address.",
  }),
  ANONYMOUS_REQUESTS_PER_DAY: whole(1, 1_000_000_000).default(10_000).meta({ description: "The same for a day." }),
  BAN_STRIKES: whole(0, 1_000_000).default(defaultBanPolicy.minimumStrikes).meta({
    description: "Fewest strikes (refusals of a key that calls on after 429) that ban a key; 0 switches bans off.",
  }),
  BAN_STRIKES_PER_UNIT: whole(0, 1_000)
    .default(defaultBanPolicy.strikesPerUnit)
    .meta({
      description: `Strikes that ban a key for each unit of its account's minute limit, where that is more than BAN_STRIKES.
With less than 2, a key that calls at less than twice its limit can be banned.`,
    }),
  BAN_EPISODE_MS: whole(1, 86_400_000).default(defaultBanPolicy.longestEpisodeMs).meta({
    description: "How long strikes are added up: until the earliest Retry-After, and for this time at most.",
  }),
  BAN_GRACE_MS: whole(0, 60_000).default(defaultBanPolicy.graceMs).meta({
    description: "A refusal this soon after the first one is no strike: the call was already in flight.",
  }),
  BAN_EARLY_MS: whole(0, 60_000).default(defaultBanPolicy.earlyMs).meta({
    description:
      "A refusal this soon before the earliest Retry-After ends is no strike: some clocks run a little fast.",
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
    description: "Above this delay of the event loop, for most of a second, requests are answered 503; 0 is never.",
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
    readTimeoutMs: environment.DATABASE_READ_TIMEOUT_MS,
    writeTimeoutMs: environment.DATABASE_WRITE_TIMEOUT_MS,
  };
}

function toConfig(environment: z.output<typeof environmentSchema>): Config {
  return {
    database: toDatabaseConfig(environment),
    quota: {
      banPolicy: {
        minimumStrikes: environment.BAN_STRIKES,
        strikesPerUnit: environment.BAN_STRIKES_PER_UNIT,
        longestEpisodeMs: environment.BAN_EPISODE_MS,
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
      metricsHost: environment.METRICS_HOST,
      metricsPort: environment.METRICS_PORT,
      maxConnectionsPerAddress:
        environment.MAX_CONNECTIONS_PER_ADDRESS ?? (environment.TRUST_PROXY.length > 0 ? 0 : 1_000),
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
