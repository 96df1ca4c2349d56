export {
  type Account,
  type AccountRepository,
  type CustomLimits,
  createAccountRepository,
  type NewAccount,
} from "./access/account-repository.js";
export { digestApiKey, isWellFormedApiKey, type KeyMode, mintApiKey } from "./access/api-key.js";
export { type Authenticator, createAuthenticator } from "./access/authenticator.js";
export {
  createKeyRepository,
  type KeyRecord,
  type KeyRepository,
  type KeyWithAccount,
} from "./access/key-repository.js";
export { type Config, type HttpConfig, type LogLevel, readConfig } from "./config.js";
export { type Core, type CoreDeps, type Health, openCore } from "./core.js";
export { type Database, type DatabaseConfig, openDatabase } from "./database/database.js";
export { type MigrateOptions, migrate } from "./database/migrate.js";
export type { Log } from "./log.js";
export type { Catalogue, CreatePet, PetPage } from "./pets/catalogue.js";
export type { CreatedPet } from "./pets/idempotency.js";
export { maxInt64, minInt64 } from "./pets/int64.js";
export { type NewPet, type Pet, type PetStatus, petStatuses } from "./pets/pet.js";
export { Problem, type ProblemBody, type ProblemCode, type ProblemKind, problems } from "./problem.js";
export { type BanPolicy, defaultBanPolicy } from "./quota/ban-policy.js";
export {
  type Admitted,
  type Banned,
  type Decision,
  type Impossible,
  type Refused,
  remaining,
  reportedWindow,
  retryAfterSeconds,
} from "./quota/decision.js";
export { createLocalQuota, type LocalQuotaOptions } from "./quota/local-quota.js";
export type { QuotaConfig, QuotaMode } from "./quota/open-quota.js";
export { type Limits, limitsOf, type Plan, planNames } from "./quota/plan.js";
export type { Quota, Refund, Reservation, Usage, UsageQuery } from "./quota/quota.js";
export { openRedis, type RedisConfig, type RedisConnection } from "./quota/redis-connection.js";
export { type Carried, createRedisQuota, type RedisQuota, type RedisQuotaOptions } from "./quota/redis-quota.js";
export type { WindowState, Windows } from "./quota/window.js";
