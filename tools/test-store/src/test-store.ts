import { migrate, openCore, readConfig } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { type HttpAnswer, openHttpClient, type RequestOptions, scrapeMetrics } from "@petstore/harness/network";
import { openTogether } from "@petstore/harness/processes";
import { type CreateApi, createLog, openService } from "@petstore/http";
import { vi } from "vitest";
import { type IssuedKey, type IssueOptions, openStoreDatabase, unhurried } from "./store-database.js";

export type { HttpAnswer as Answer, RequestOptions as CallOptions } from "@petstore/harness/network";

/**
 * A whole service over a database of its own, reached through the network. Only the test moves the clock of the service;
 * the clock of PostgreSQL goes on as it is.
 */
export interface TestStore extends AsyncDisposable {
  readonly clock: { nowMs: number };
  readonly origin: string;
  /** Every line the service has logged, at the most talkative level. */
  readonly logged: readonly string[];
  /** The log line of the request that this is the answer to. */
  lineOf(answer: HttpAnswer): Promise<Readonly<Record<string, unknown>>>;
  issueKey(options?: IssueOptions): Promise<IssuedKey>;
  revokeKey(id: bigint): Promise<unknown>;
  call(method: string, path: string, options?: RequestOptions): Promise<HttpAnswer>;
  readonly port: number;
  /** The answer of the metrics port to /readyz. Needs METRICS_PORT. */
  readiness(): Promise<unknown>;
  /** The value of every metric by its name and labels. Needs METRICS_PORT. */
  scrape(): Promise<ReadonlyMap<string, number>>;
  /** Runs one statement and returns its rows, always on the same connection, which is not of the service. */
  execute(sql: string): Promise<unknown[]>;
}

/** `environment` has the settings of an operator. With a DATABASE_URL, no database is created. */
export function openTestStore(
  createApis: readonly CreateApi[],
  environment: Readonly<Record<string, string>> = {},
): Promise<TestStore> {
  return openTogether(async (use) => {
    const database = environment.DATABASE_URL === undefined ? use(await createTestDatabase()) : undefined;
    if (database !== undefined) await migrate(database.url);
    // The direct URL leads past a PgBouncer, through which nothing can listen for changes.
    const urls = { DATABASE_URL: database?.url, DATABASE_DIRECT_URL: database?.directUrl };
    const config = readConfig({ ...urls, PORT: "0", ...unhurried, ...environment });
    const clock = { nowMs: Date.UTC(2027, 4, 3, 12) };
    const now = () => clock.nowMs;
    const logged: string[] = [];
    const log = createLog("trace", { write: (line) => void logged.push(line) });
    // A test expects this number in the metrics.
    const droppedLogLines = () => 3;
    const deps = { log, now, monotonicNow: now };
    const store = use(openStoreDatabase(config.database.url));
    const core = use(await openCore(config, deps));
    const service = use(await openService(config.http, createApis, { ...deps, core, droppedLogLines }));
    const client = openHttpClient(`http://127.0.0.1:${service.port}`);
    use({ [Symbol.asyncDispose]: async () => client[Symbol.dispose]() });

    return {
      clock,
      origin: service.url,
      logged,
      async lineOf({ headers }) {
        const lines = () => logged.map((line) => JSON.parse(line));
        const isOfRequest = ({ msg, requestId }: { readonly msg: string; readonly requestId: string }) =>
          msg === "request completed" && requestId === headers["x-request-id"];
        // The service may write it after the client has the answer.
        return vi.waitUntil(() => lines().find(isOfRequest), { timeout: 20_000 });
      },
      issueKey: store.issueKey,
      revokeKey: core.keys.revoke,
      call: client.send,
      port: service.port,
      readiness: async () => (await fetch(new URL("/readyz", service.metricsUrl))).json(),
      scrape: () => scrapeMetrics(service.metricsUrl ?? ""),
      execute: store.execute,
    };
  });
}
