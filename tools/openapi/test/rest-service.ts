import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  type CustomLimits,
  type Database,
  digestApiKey,
  migrate,
  mintApiKey,
  openCore,
  openDatabase,
  readConfig,
} from "@petstore/core";
import { choosePort } from "@petstore/embedded-postgres";
import { createTestDatabase } from "@petstore/harness";
import { serviceFlags } from "@petstore/harness/service-flags";

export interface RestOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** How far its clock runs ahead. */
  readonly clockOffsetMs?: number;
  /** The database of another service, for one that shares it. */
  readonly databaseUrl?: string;
}

/** The REST service as a process of its own. Disposing ends it, and removes the database it was given. */
export interface RestService extends AsyncDisposable {
  readonly origin: string;
  readonly databaseUrl: string;
  /** A key of a new account; without limits, one that no test uses up. */
  issueKey(options?: { readonly customLimits?: CustomLimits; readonly expiresAt?: Date }): Promise<string>;
  /** Runs one statement beside the service, on a connection that stays the same. */
  execute(sql: string): Promise<unknown[]>;
}

const main = new URL("../../../services/rest/dist/main.js", import.meta.url).pathname;
const log = { info() {}, warn() {}, error() {} };
const roomy = { perMinute: 1_000_000, perDay: 1_000_000 };

export async function startRest({
  environment,
  clockOffsetMs = 0,
  databaseUrl,
}: RestOptions = {}): Promise<RestService> {
  const database = databaseUrl === undefined ? await createTestDatabase() : undefined;
  const url = databaseUrl ?? database?.url ?? "";
  await migrate(url);
  const origin = `http://127.0.0.1:${await choosePort(undefined)}`;
  const child = spawn(process.execPath, [...serviceFlags, ...aheadBy(clockOffsetMs), main], {
    env: { DATABASE_URL: url, PORT: new URL(origin).port, LOG_LEVEL: "silent", ...environment },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "close");
  await untilLive(origin, () => child.exitCode !== null);
  const config = readConfig({ DATABASE_URL: url });
  const core = await openCore(config, { log, now: Date.now });
  const beside: Database = openDatabase({ ...config.database, poolSize: 1 }, log);
  return {
    origin,
    databaseUrl: url,
    async issueKey({ customLimits = roomy, expiresAt } = {}) {
      const name = randomBytes(8).toString("hex");
      const account = await core.accounts.create({ name, plan: "enterprise", customLimits });
      if (account === undefined) throw new Error("the name of a new account is taken");
      const key = mintApiKey("test", randomBytes);
      await core.keys.add({ accountId: account.id, digest: digestApiKey(key), ...(expiresAt && { expiresAt }) });
      return key;
    },
    execute: (sql) => beside.run({ access: "write", name: "", text: sql, bind: () => [] }, {}),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      await core[Symbol.asyncDispose]();
      await beside[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
    },
  };
}

function aheadBy(offsetMs: number): string[] {
  if (offsetMs === 0) return [];
  const script = `const now = Date.now; Date.now = () => now() + ${offsetMs};`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
}

async function untilLive(origin: string, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    if (hasEnded()) throw new Error("the service did not start");
    try {
      if ((await fetch(`${origin}/readyz`)).ok) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
