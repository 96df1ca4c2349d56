import { randomBytes } from "node:crypto";
import { digestApiKey, type Limits, migrate, mintApiKey, openCore, petStatuses, readConfig } from "@petstore/core";
import { createTestDatabase, grantService } from "@petstore/harness";
import { graphqlMain, restMain, type Service, startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import type { TestAPI } from "vitest";
import { it as base, type Figures } from "../src/it.js";
import type { KeyKind } from "./arbitraries/headers.js";

/** Both services over one PostgreSQL and one Redis, and keys of every kind. */
export interface FuzzServices extends AsyncDisposable {
  readonly rest: Service;
  readonly graphql: Service;
  readonly keys: Readonly<Record<KeyKind, string>>;
}

const unlimited = 1_000_000_000;

/** More than the longest page, so that the first pages of each status stay as they are while pets are added. */
const firstPetsPerStatus = 130;

/** A response must depend on the request alone, not on the number of requests or the speed of the machine. */
const environment = {
  QUOTA_INSTANCES: "2",
  TRUST_PROXY: "127.0.0.1",
  ANONYMOUS_REQUESTS_PER_MINUTE: `${unlimited}`,
  ANONYMOUS_REQUESTS_PER_DAY: `${unlimited}`,
  DATABASE_ACQUIRE_TIMEOUT_MS: "10000",
  DATABASE_READ_TIMEOUT_MS: "10000",
  DATABASE_WRITE_TIMEOUT_MS: "10000",
  REDIS_COMMAND_TIMEOUT_MS: "5000",
  SHED_EVENT_LOOP_DELAY_MS: "0",
  LOG_LEVEL: "warn",
};

/** A test with the services of its file. */
export const it: TestAPI<{ figures: Figures; services: FuzzServices }> = base.extend<{
  $file: { services: FuzzServices };
}>({
  services: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern.
    async ({}, use) => {
      await using services = await startFuzzServices();
      await use(services);
    },
    { scope: "file" },
  ],
});

async function startFuzzServices(): Promise<FuzzServices> {
  const [database, redis] = [await createTestDatabase(), await openRedisServer()];
  await migrate(database.url);
  const shared = { ...environment, DATABASE_URL: await grantService(database), REDIS_URL: redis.url };
  const [rest, graphql] = await Promise.all([
    startService({ main: restMain, environment: shared }),
    startService({ main: graphqlMain, environment: shared }),
  ]);
  return {
    rest,
    graphql,
    keys: await addPetsAndKeys(database.url),
    async [Symbol.asyncDispose]() {
      await Promise.all([rest[Symbol.asyncDispose](), graphql[Symbol.asyncDispose]()]);
      await redis[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function addPetsAndKeys(databaseUrl: string): Promise<FuzzServices["keys"]> {
  const log = { info() {}, warn() {}, error() {} };
  await using core = await openCore(readConfig({ DATABASE_URL: databaseUrl }), { log, now: Date.now });
  async function createAccount(customLimits: Limits) {
    const account = await core.accounts.create({
      name: `${customLimits.perMinute} a minute`,
      plan: "enterprise",
      customLimits,
    });
    if (account === undefined) throw new Error("The name of a new account is taken");
    return async (expiry: { readonly expiresAt?: Date } = {}) => {
      const key = mintApiKey("test", randomBytes);
      const { id } = await core.keys.add({ accountId: account.id, digest: digestApiKey(key), ...expiry });
      return { id, key };
    };
  }
  for (let index = 0; index < petStatuses.length * firstPetsPerStatus; index += 1) {
    const status = petStatuses[index % petStatuses.length] ?? "available";
    await core.catalogue.create({ accountId: 0n, input: { name: `pet ${index}`, categoryId: BigInt(index), status } });
  }
  const addKey = await createAccount({ perMinute: unlimited, perDay: unlimited });
  const addSmallKey = await createAccount({ perMinute: 60, perDay: 1_000 });
  const addTinyKey = await createAccount({ perMinute: 3, perDay: unlimited });
  const revoked = await addKey();
  await core.keys.revoke(revoked.id);
  return {
    valid: (await addKey()).key,
    smallQuota: (await addSmallKey()).key,
    tinyQuota: (await addTinyKey()).key,
    malformed: "pets_test_nonsense",
    unknown: mintApiKey("test", randomBytes),
    revoked: revoked.key,
    expired: (await addKey({ expiresAt: new Date(Date.now() - 1_000) })).key,
  };
}
