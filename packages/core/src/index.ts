export {
  type Account,
  type CustomLimits,
  createAccountRepository,
  type NewAccount,
} from "./access/account-repository.js";
export { isWellFormedApiKey, type KeyMode, mintApiKey, modeOf } from "./access/api-key.js";
export { type AuditEntry, listAuditEntries } from "./access/audit-log.js";
export { selectEndingKeys } from "./access/ending-keys.js";
export {
  createKeyRepository,
  type KeyRecord,
  type KeyRepository,
  type KeyWithAccount,
} from "./access/key-repository.js";
export { type KeyScope, keyScopes } from "./access/key-scope.js";
export { rfc3339 } from "./access/rfc3339.js";
export { type Admission, type Charge, createAdmission } from "./admission/admission.js";
export type { AdmissionMetrics, QuotaReport } from "./admission/bucket.js";
export { type Caller, requireScope } from "./admission/caller.js";
export type { Ticket } from "./admission/ticket.js";
export {
  type ChangeEvent,
  changeChannel,
  maxPenalties,
  type OperatorRequest,
  type OperatorResponse,
  type ReportedBan,
  readResponse,
  responseChannel,
  subscriberName,
} from "./changes/change-events.js";
export type {
  Config,
  DeprecationConfig,
  HttpConfig,
  LogConfig,
  LogLevel,
  SheddingConfig,
  TracingConfig,
} from "./config/read-config.js";
export { readConfig, readDatabaseConfig } from "./config/read-config.js";
export { copyText } from "./copy-text.js";
export { type Core, type Health, openCore } from "./core.js";
export { createClient } from "./database/connection.js";
export type { DatabaseConfig } from "./database/connection-config.js";
export { type Database, openDatabase } from "./database/database.js";
export { explainEncoding } from "./database/encoding.js";
export { migrate, readMigrations } from "./database/migrate.js";
export type { MigrationStatus } from "./database/migration-status.js";
export { type DatabaseCall, databaseCalls } from "./database-calls.js";
export { type Brownout, deprecatedAtMs, removedAtMs } from "./deprecation.js";
export { containsKey, type Log } from "./log.js";
export { isLoopback } from "./loopback.js";
export type { Catalogue } from "./pets/catalogue.js";
export type { PetPage } from "./pets/pages/pet-pages.js";
export {
  type AllFields,
  maxInt64,
  minInt64,
  type NewPet,
  type Pet,
  type PetStatus,
  parseInt64,
  petStatuses,
} from "./pets/pet.js";
export { listPetsSchema, newPetSchema, rules } from "./pets/validation.js";
export { errorGuide, Problem, type ProblemCode, problems } from "./problem.js";
export {
  type Decision,
  remaining,
  reportedWindow,
  retryAfterSeconds,
  secondsUntil,
} from "./quota/decision.js";
export { createLocalQuota } from "./quota/engines/local-quota.js";
export { openSentinel, type SentinelLogin } from "./quota/engines/redis-behind-sentinel.js";
export { openRedis, type RedisConfig, type RedisConnection } from "./quota/engines/redis-connection.js";
export { createRedisQuota } from "./quota/engines/redis-quota.js";
export { readSentinelUrl, type SentinelAddress, type SentinelUrl } from "./quota/engines/sentinel-url.js";
export type { QuotaConfig } from "./quota/open-quota.js";
export type { KeyPenalty } from "./quota/penalties.js";
export { type Limits, limitsOf, type Plan, planNames } from "./quota/plan.js";
export type { WindowState } from "./quota/window.js";
export { type FoundRequirement, listRequirements } from "./requirements/requirements.js";
export type { AccountUsage } from "./usage/account-usage.js";
export {
  listBusiestAccounts,
  listDeprecatedUse,
  listUsage,
  type UsagePeriod,
} from "./usage/usage-reports.js";
