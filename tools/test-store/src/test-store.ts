import { randomBytes } from "node:crypto";
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { text } from "node:stream/consumers";
import {
  type CustomLimits,
  digestApiKey,
  migrate,
  mintApiKey,
  openCore,
  openDatabase,
  type Plan,
  readConfig,
} from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { type ApiRouter, createLog, openService } from "@petstore/http";

export interface TestStoreOptions {
  readonly routers: readonly ApiRouter[];
  /** As an operator would set it; where it names a DATABASE_URL, no database is made. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface IssueOptions {
  /** Without one, an Enterprise account that no test uses up. */
  readonly plan?: Plan;
  readonly customLimits?: CustomLimits;
  /** An account that exists already, for its second key. */
  readonly accountId?: bigint;
  /** By the clock of PostgreSQL. */
  readonly expiresAt?: Date;
}

export interface IssuedKey {
  readonly key: string;
  readonly keyId: bigint;
  readonly accountId: bigint;
}

export interface CallOptions {
  readonly key?: string;
  /** Sent as they are; an array sends the header so many times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sent as application/json unless the headers say otherwise. */
  readonly body?: string | Buffer;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; `undefined` when there is none. */
  readonly json: unknown;
  /** The X-RateLimit headers as numbers; NaN where one is missing. */
  readonly rateLimit: RateLimit;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

/**
 * A whole service over a database of its own, reached through the network. Only the test moves the clock of the service;
 * the clock of PostgreSQL goes on as it is.
 */
export interface TestStore extends AsyncDisposable {
  readonly clock: { nowMs: number };
  readonly origin: string;
  /** Every line the service has logged, at the most talkative level. */
  readonly logged: readonly string[];
  issueKey(options?: IssueOptions): Promise<IssuedKey>;
  revokeKey(id: bigint): Promise<void>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  readonly port: number;
  /** What the metrics port answers, where METRICS_PORT is set. */
  probe(path: "/livez" | "/readyz"): Promise<{ readonly status: number; readonly json: unknown }>;
  /** What is scraped, where METRICS_PORT is set: a value for every series, by its name and labels. */
  scrape(): Promise<ReadonlyMap<string, number>>;
  /** Runs one statement beside the service, on a connection that stays the same; returns its rows. */
  execute(sql: string): Promise<unknown[]>;
}

/** What is slow while tests run is the machine. A test of a deadline sets its own. */
const unhurried = {
  DATABASE_ACQUIRE_TIMEOUT_MS: "15000",
  DATABASE_READ_TIMEOUT_MS: "15000",
  DATABASE_WRITE_TIMEOUT_MS: "15000",
};

const roomyLimits: CustomLimits = { perMinute: 1_000_000, perDay: 1_000_000 };

export async function openTestStore({ routers, environment = {} }: TestStoreOptions): Promise<TestStore> {
  const database = environment.DATABASE_URL === undefined ? await createTestDatabase() : undefined;
  if (database !== undefined) await migrate(database.url);
  const config = readConfig({ DATABASE_URL: database?.url, PORT: "0", ...unhurried, ...environment });
  const clock = { nowMs: Date.UTC(2027, 4, 3, 12) };
  const now = () => clock.nowMs;
  const logged: string[] = [];
  const log = createLog("trace", { write: (line) => void logged.push(line) });
  const core = await openCore(config, { log, now, monotonicNow: now });
  const service = await openService({ core, config: config.http, log, now, routers });
  const beside = openDatabase({ ...config.database, poolSize: 1 }, log);
  const agent = new Agent({ keepAlive: true });
  let accounts = 0;

  return {
    clock,
    origin: service.url,
    logged,
    async issueKey({ plan = "enterprise", customLimits, accountId, expiresAt } = {}) {
      const limits = customLimits ?? (plan === "enterprise" ? roomyLimits : undefined);
      const newAccount = { name: `account ${++accounts}`, plan, ...(limits && { customLimits: limits }) };
      const id = accountId ?? (await core.accounts.create(newAccount))?.id;
      if (id === undefined) throw new Error("the name of the account is taken");
      const key = mintApiKey("live", randomBytes);
      const record = await core.keys.add({ accountId: id, digest: digestApiKey(key), ...(expiresAt && { expiresAt }) });
      return { key, keyId: record.id, accountId: id };
    },
    async revokeKey(id) {
      await core.keys.revoke(id);
    },
    call: (method, path, options = {}) => call({ agent, port: service.port, method, path }, options),
    port: service.port,
    async probe(path) {
      const response = await fetch(new URL(path, service.metricsUrl));
      return { status: response.status, json: await response.json() };
    },
    async scrape() {
      const lines = (await (await fetch(service.metricsUrl ?? "")).text()).split("\n");
      const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
      return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
    },
    execute: (sql) => beside.run({ access: "write", name: "", text: sql, bind: () => [] }, {}),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await service[Symbol.asyncDispose]();
      await core[Symbol.asyncDispose]();
      await beside[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
    },
  };
}

/** `node:http`, because `fetch` would tidy up the path, and sends neither two headers of a name nor any Host. */
async function call(target: RequestOptions, { key, headers, body }: CallOptions): Promise<Answer> {
  const sent = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: "127.0.0.1", ...target, headers: sent }, resolve)
      .on("error", reject)
      .end(body);
  });
  const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  const answered: Record<string, string> = Object.fromEntries(received);
  const answer = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: answered,
    text: answer,
    json: /^[[{]/.test(answer) ? JSON.parse(answer) : undefined,
    rateLimit: {
      limit: Number(answered["x-ratelimit-limit"]),
      remaining: Number(answered["x-ratelimit-remaining"]),
      reset: Number(answered["x-ratelimit-reset"]),
    },
  };
}
