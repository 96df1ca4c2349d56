import { randomBytes } from "node:crypto";
import {
  type CustomLimits,
  createAccountRepository,
  createKeyRepository,
  type KeyMode,
  type KeyScope,
  mintApiKey,
  openDatabase,
  type Plan,
  readConfig,
} from "@petstore/core";
import { sparedName } from "@petstore/harness/postgres";

export interface IssueOptions {
  /** Enterprise by default, with limits that no test reaches. */
  readonly plan?: Plan;
  readonly customLimits?: CustomLimits;
  /** An existing account, for its second key. */
  readonly accountId?: bigint;
  /** By the clock of PostgreSQL. */
  readonly expiresAt?: Date;
  readonly scope?: KeyScope;
  /** A live key by default. */
  readonly mode?: KeyMode;
  readonly revokedAt?: Date;
  /** Suspends the new account of the key. */
  readonly isSuspended?: boolean;
}

export interface IssuedKey {
  readonly key: string;
  readonly keyId: bigint;
  readonly accountId: bigint;
}

/** The database of a running service, used directly. The faults of `PostgresServer` spare its connections. */
export interface StoreDatabase extends AsyncDisposable {
  readonly url: string;
  issueKey(options?: IssueOptions): Promise<IssuedKey>;
  /** Runs one statement and returns its rows, always on the same connection. */
  execute(sql: string): Promise<unknown[]>;
  /** The number of pets with each of these names. Names without a pet are absent. */
  countByName(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** Settings with which a busy machine fails no test. A test of a deadline sets its own. */
export const unhurried = {
  DATABASE_ACQUIRE_TIMEOUT_MS: "15000",
  DATABASE_READ_TIMEOUT_MS: "15000",
  DATABASE_WRITE_TIMEOUT_MS: "15000",
  // Off: an event loop that is late because the machine is busy is not an overload of the service.
  SHED_EVENT_LOOP_DELAY_MS: "0",
} as const;

const highLimits: CustomLimits = { perMinute: 1_000_000, perDay: 1_000_000 };
const silentLog = { info() {}, warn() {}, error() {} };

/** The database must be migrated. */
export function openStoreDatabase(url: string): StoreDatabase {
  const named = new URL(url);
  named.searchParams.set("application_name", sparedName);
  const config = readConfig({ DATABASE_URL: named.href, ...unhurried }).database;
  const database = openDatabase({ ...config, poolSize: 2 }, silentLog);
  const session = openDatabase({ ...config, poolSize: 1 }, silentLog);
  const accounts = createAccountRepository(database, "a test");
  const keys = createKeyRepository(database, "a test");
  return {
    url,
    async issueKey(options = {}) {
      const { plan = "enterprise", customLimits, accountId, expiresAt, revokedAt, scope, mode = "live" } = options;
      const limits = customLimits ?? (plan === "enterprise" ? highLimits : undefined);
      const name = `account ${randomBytes(8).toString("hex")}`;
      const id = accountId ?? (await accounts.create({ name, plan, ...(limits && { customLimits: limits }) }))?.id;
      if (id === undefined) throw new Error(`The name ${name} is taken`);
      const key = mintApiKey(mode, randomBytes);
      const record = await keys.add({
        accountId: id,
        text: key,
        ...(expiresAt && { expiresAt }),
        ...(scope && { scope }),
      });
      if (revokedAt !== undefined) await session.run(revocation, [revokedAt, record.id]);
      if (options.isSuspended) await accounts.suspend(name);
      return { key, keyId: record.id, accountId: id };
    },
    execute: (sql) => session.run(statementOf(sql), []),
    async countByName(names) {
      const counting = statementOf("select name, count(*) from pets where name = any($1) group by name");
      const rows = await database.run<unknown[], { readonly name: string; readonly count: bigint }>(counting, [names]);
      return new Map(rows.map(({ name, count }) => [name, Number(count)]));
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await session[Symbol.asyncDispose]();
    },
  };
}

const revocation = statementOf("update api_keys set revoked_at = $1 where id = $2");

function statementOf(text: string) {
  return { access: "write", name: "", text, bind: (values: unknown[]) => values } as const;
}
