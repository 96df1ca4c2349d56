/** Reads the configuration from environment variables, once, at the start of a service. */
import { z } from "zod";
import type { DatabaseConfig } from "../database/database.js";
import { defaultBanPolicy } from "../quota/ban-policy.js";
import { type Config, logLevels } from "./config.js";
import { type Environment, readSettings } from "./read-settings.js";
import { addressRanges, databaseUrl, flag, httpUrl, origin, redisUrls, share, whole } from "./setting.js";

/** Throws an Error with one line for every faulty variable. */
export function readConfig(environment: Environment): Config {
  return toConfig(readSettings(environmentSchema, withNewNames(environment)));
}

/** The same for the database only: faults of other variables do not matter. */
export function readDatabaseConfig(environment: Environment): DatabaseConfig {
  return toDatabaseConfig(readSettings(z.object(databaseSettings), withNewNames(environment)));
}

/** Accepts the setting names of earlier versions, because both versions may run with one environment. */
function withNewNames({ DATABASE_STATEMENT_TIMEOUT_MS: ofBoth, ...environment }: Environment): Environment {
  return {
    ...environment,
    DATABASE_READ_TIMEOUT_MS: environment.DATABASE_READ_TIMEOUT_MS || ofBoth,
    DATABASE_WRITE_TIMEOUT_MS: environment.DATABASE_WRITE_TIMEOUT_MS || ofBoth,
  };
}

const databaseSettings = {
  DATABASE_URL: databaseUrl().meta({
    isSecret: true,
    description: `The address of PostgreSQL 14 or later: postgres://user:password@host:port/database. Add ?pgbouncer=true if
it leads to a PgBouncer in transaction mode.`,
  }),
  DATABASE_DIRECT_URL: databaseUrl()
    .optional()
    .meta({
      isSecret: true,
      description: `The same database without the PgBouncer, for the connection of each instance that listens for changes.
With a PgBouncer and without this address, changes of keys and plans take effect within 5 s instead of at once.`,
    }),
  DATABASE_POOL_SIZE: whole(1, 1_000)
    .default(10)
    .meta({
      description: `Connections of one instance. Two more are always open: one listens for changes, one serves /readyz. If the
number is at least 5, two of the connections are shared by reads; the others run one statement at a time.`,
    }),
  DATABASE_ACQUIRE_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long a request waits for a free connection before it gets a 503 response.",
  }),
  DATABASE_READ_TIMEOUT_MS: whole(1, 60_000).default(1_000).meta({
    description: "How long a statement that only reads may run before its request gets a 503 response.",
  }),
  DATABASE_WRITE_TIMEOUT_MS: whole(1, 60_000)
    .default(3_000)
    .meta({
      description: `The same for a statement that writes: a commit waits for the disk. Behind a PgBouncer, the role has to set it too.
DATABASE_STATEMENT_TIMEOUT_MS, the name in earlier versions, sets both limits if they are absent.`,
    }),
};

const environmentSchema = z.object({
  ...databaseSettings,
  HOST: z.string().default("127.0.0.1").meta({ description: "The address to listen on; 0.0.0.0 for all addresses." }),
  PORT: whole(0, 65_535).default(3_000).meta({ description: "0 takes a free port." }),
  METRICS_PORT: whole(0, 65_535).optional().meta({
    description: "The port of /metrics, and of /livez and /readyz with details. Without it they are not served.",
  }),
  METRICS_HOST: z
    .string()
    .default("127.0.0.1")
    .meta({
      description: `The address that METRICS_PORT listens on. The metrics are for operators: use 0.0.0.0 only if clients cannot
reach the port.`,
    }),
  PUBLIC_URL: origin().optional().meta({
    description: "The address for clients, such as https://api.example.com. Without it, links are relative.",
  }),
  STAGING_URL: origin().optional().meta({
    description: "The address of a staging service, for the OpenAPI document.",
  }),
  TRUST_PROXY: addressRanges().meta({
    description: "Addresses or CIDR ranges of proxies whose X-Forwarded-For is trusted, separated by commas.",
  }),
  MAX_CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000)
    .optional()
    .meta({
      description: `How many connections one client address may hold; further ones are closed at once. 0 is no limit. The default
is 1000, or 0 if TRUST_PROXY is set, because all connections come from the proxies then.`,
    }),
  REDIS_URL: redisUrls()
    .optional()
    .meta({
      isSecret: true,
      description: `The Redis of the shared counters: redis://user:password@host:port, or rediss:// for TLS. Several addresses,
separated by commas, are a Redis Cluster. Without it, each instance counts for itself.`,
    }),
  REDIS_CLUSTER: flag().meta({ description: "True if the only address in REDIS_URL is a node of a Redis Cluster." }),
  REDIS_COMMAND_TIMEOUT_MS: whole(1, 10_000).default(80).meta({
    description: "How long a decision waits for Redis before this instance decides alone.",
  }),
  QUOTA_ON_REDIS_FAILURE: z.enum(["local", "deny"], { error: "must be local or deny" }).default("local").meta({
    description:
      "While Redis is unavailable: each instance decides alone (local), or requests get a 503 response (deny).",
  }),
  QUOTA_INSTANCES: whole(1, 10_000).default(1).meta({
    description: "How many instances share the limits: each grants its part while Redis is unavailable.",
  }),
  ANONYMOUS_REQUESTS_PER_MINUTE: whole(1, 1_000_000_000).default(300).meta({
    description: "Requests without a valid key that each instance accepts from one address in a minute.",
  }),
  ANONYMOUS_REQUESTS_PER_DAY: whole(1, 1_000_000_000).default(10_000).meta({ description: "The same for a day." }),
  BAN_STRIKES: whole(0, 1_000_000).default(defaultBanPolicy.minimumStrikes).meta({
    description: "The fewest strikes (refusals of a key that ignores Retry-After) that ban a key; 0 switches bans off.",
  }),
  BAN_STRIKES_PER_UNIT: whole(0, 1_000)
    .default(defaultBanPolicy.strikesPerUnit)
    .meta({
      description: `Strikes for each unit of the account's minute limit: a key is banned at this number of strikes if it is more than
BAN_STRIKES. With less than 2, a key that calls at less than twice its limit can be banned.`,
    }),
  BAN_EPISODE_MS: whole(1, 86_400_000).default(defaultBanPolicy.longestEpisodeMs).meta({
    description: "How long strikes are added up: until the earliest Retry-After ends, and for this time at most.",
  }),
  BAN_GRACE_MS: whole(0, 60_000).default(defaultBanPolicy.graceMs).meta({
    description: "A refusal this soon after the first one is no strike: the call was already in flight.",
  }),
  BAN_EARLY_MS: whole(0, 60_000).default(defaultBanPolicy.earlyMs).meta({
    description: "A refusal this soon before the earliest Retry-After ends is no strike: some clocks run fast.",
  }),
  BAN_FIRST_MS: whole(1, 86_400_000).default(defaultBanPolicy.firstBanMs).meta({
    description: "The duration of the first ban; each further ban lasts twice as long as the one before.",
  }),
  BAN_LONGEST_MS: whole(1, 604_800_000).default(defaultBanPolicy.longestBanMs).meta({
    description: "The longest duration of a ban.",
  }),
  BAN_MEMORY_MS: whole(0, 2_592_000_000).default(defaultBanPolicy.memoryMs).meta({
    description: "How long after the end of a ban the next ban is still longer.",
  }),
  SHUTDOWN_GRACE_MS: whole(0, 600_000).default(0).meta({
    description: "How long requests are still served after SIGTERM, so that the balancer can see that /readyz is 503.",
  }),
  SHED_EVENT_LOOP_DELAY_MS: whole(0, 60_000).default(500).meta({
    description: "If the event loop delay exceeds this for most of a second, requests get a 503 response; 0 is never.",
  }),
  SHED_DATABASE_QUEUE: whole(0, 1_000_000).default(1_000).meta({
    description: "If this many requests wait for a connection, further requests get a 503 response; 0 is never.",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional().meta({
    description: "The receiver of traces, by OTLP over HTTP. Without it, nothing is traced.",
  }),
  OTEL_SERVICE_NAME: z.string().default("petstore").meta({ description: "The name of this service in traces." }),
  OTEL_TRACES_SAMPLER_ARG: share().default(1).meta({
    description: "The share of traces to record, from 0 to 1, of those that begin in this service.",
  }),
  LOG_LEVEL: z
    .enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` })
    .default("info")
    .meta({
      description: `One of ${logLevels.join(", ")}.`,
    }),
});

/** Every variable by name. `npm run generate` writes their descriptions to `.env.example`. */
export const settings: Readonly<Record<string, z.ZodType>> = environmentSchema.shape;

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
        decisionTimeoutMs: environment.REDIS_COMMAND_TIMEOUT_MS,
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
