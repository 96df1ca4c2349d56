/** Everything that can be set, read from the environment once, at start; every fault is reported, by name. */
import { isIP } from "node:net";
import { z } from "zod";
import type { DatabaseConfig } from "./database/database.js";
import { defaultBanPolicy } from "./quota/ban-policy.js";
import type { QuotaConfig } from "./quota/open-quota.js";

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
  /** Proxies whose X-Forwarded-For is believed, as addresses or CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Where `/metrics` is served, on the same host and away from clients; nowhere when it is absent. */
  readonly metricsPort: number | undefined;
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Names and values as in `process.env`. Throws an Error with one line for every variable at fault, values never shown. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  // An empty variable counts as absent, as in the shell's ${NAME:-default}.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const result = environmentSchema.safeParse(given);
  if (result.success) return toConfig(result.data);
  const faults = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
  throw new Error(`The configuration is not usable:\n${faults.join("\n")}`);
}

const environmentSchema = z.object({
  DATABASE_URL: z
    .string({ error: "is required: postgres://user:password@host:port/database" })
    .refine((text) => /^postgres(ql)?:$/.test(protocolOf(text)), "must be a URL that begins with postgres://"),
  DATABASE_POOL_SIZE: whole(1, 1_000).default(10),
  DATABASE_ACQUIRE_TIMEOUT_MS: whole(1, 60_000).default(1_000),
  DATABASE_STATEMENT_TIMEOUT_MS: whole(1, 60_000).default(1_000),
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65_535).default(3_000),
  METRICS_PORT: whole(0, 65_535).optional(),
  PUBLIC_URL: z
    .string()
    .refine(isOrigin, "must be a URL of scheme, host and port alone, such as https://api.example.com")
    .transform((text) => new URL(text).origin)
    .optional(),
  TRUST_PROXY: z
    .string()
    .default("")
    .transform(listOf)
    .refine((ranges) => ranges.every(isAddressRange), "must list addresses or CIDR ranges, separated by commas"),
  REDIS_URL: z
    .string()
    .transform(listOf)
    .refine((urls) => urls.length > 0 && urls.every((url) => /^rediss?:$/.test(protocolOf(url))), {
      error: "must be a URL that begins with redis:// or rediss://, or several, separated by commas, for a cluster",
    })
    .optional(),
  REDIS_CLUSTER: flag(),
  REDIS_COMMAND_TIMEOUT_MS: whole(1, 10_000).default(80),
  QUOTA_ON_REDIS_FAILURE: z.enum(["local", "deny"], { error: "must be local or deny" }).default("local"),
  QUOTA_INSTANCES: whole(1, 10_000).default(1),
  ANONYMOUS_REQUESTS_PER_MINUTE: whole(1, 1_000_000_000).default(300),
  ANONYMOUS_REQUESTS_PER_DAY: whole(1, 1_000_000_000).default(10_000),
  BAN_STRIKES: whole(0, 1_000_000).default(defaultBanPolicy.strikes),
  BAN_GRACE_MS: whole(0, 60_000).default(defaultBanPolicy.graceMs),
  BAN_EARLY_MS: whole(0, 60_000).default(defaultBanPolicy.earlyMs),
  BAN_FIRST_MS: whole(1, 86_400_000).default(defaultBanPolicy.firstBanMs),
  BAN_LONGEST_MS: whole(1, 604_800_000).default(defaultBanPolicy.longestBanMs),
  BAN_MEMORY_MS: whole(0, 2_592_000_000).default(defaultBanPolicy.memoryMs),
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` }).default("info"),
});

function toConfig(environment: z.output<typeof environmentSchema>): Config {
  return {
    database: {
      url: environment.DATABASE_URL,
      poolSize: environment.DATABASE_POOL_SIZE,
      acquireTimeoutMs: environment.DATABASE_ACQUIRE_TIMEOUT_MS,
      statementTimeoutMs: environment.DATABASE_STATEMENT_TIMEOUT_MS,
    },
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
      trustedProxies: environment.TRUST_PROXY,
      metricsPort: environment.METRICS_PORT,
    },
    logLevel: environment.LOG_LEVEL,
  };
}

function whole(minimum: number, maximum: number) {
  return z
    .string()
    .refine((text) => /^\d{1,12}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum, {
      error: `must be a whole number from ${minimum} to ${maximum}`,
    })
    .transform(Number);
}

function flag() {
  return z
    .enum(["true", "false"], { error: "must be true or false" })
    .default("false")
    .transform((text) => text === "true");
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : "";
}

function isOrigin(text: string): boolean {
  if (!/^https?:$/.test(protocolOf(text))) return false;
  const { origin, href } = new URL(text);
  return href === `${origin}/`;
}

function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && +prefix >= 1 && +prefix <= bits))
  );
}
