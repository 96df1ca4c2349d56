import { setTimeout as sleep } from "node:timers/promises";
import type { HttpRequest } from "@petstore/harness/network";
import type { PostgresServer } from "@petstore/harness/postgres";
import { until } from "@petstore/harness/processes";
import { type Api, graphqlCall, rest } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { startLoad } from "../environment/load.js";
import { median } from "../environment/measures.js";
import { isUnavailable, slowestMs } from "../environment/results.js";
import type { Service } from "../environment/services.js";

const poolSize = 6;
/** The service notices after this time that a shared connection is stalled, and sends it no more queries. */
const stallMs = 500;
const acquireTimeoutMs = 400;
/** Longer than the test holds the connections. */
const statementTimeoutMs = 60_000;
const heldSeconds = 22;
/** The cached key records are older than 5 s by then, so every request needs a look-up, which fails. */
const keyAgeMs = 6_000;
const rounds = 15;
/** The median of the rounds: on a shared machine, some answers are late. */
const fastMs = 20;
/** Requests to each API while its connections are held. */
const refusals = 5;
const settings = {
  DATABASE_POOL_SIZE: `${poolSize}`,
  DATABASE_ACQUIRE_TIMEOUT_MS: `${acquireTimeoutMs}`,
  DATABASE_READ_TIMEOUT_MS: `${statementTimeoutMs}`,
  DATABASE_WRITE_TIMEOUT_MS: `${statementTimeoutMs}`,
};
const small = { perMinute: 1_000_000_000, perDay: 3 };

it("pool-exhausted: answers 503 in time, and cheap refusals as fast as before", async ({ environment, figures }) => {
  environment.allowFailures();
  /** Sends one request after the other. */
  const sendOften = (service: Service, call: HttpRequest, apiKey: string, requests: number) =>
    environment.sendBurst({ targets: [service], requests, clients: 1, apiKey, call: () => call });
  const server = await environment.openPostgres();
  const services = await environment.startServices(settings);
  const apiKey = await environment.issueKey();
  // A second key: a look-up on a held connection is not answered until the lock is released.
  const holdingKey = await environment.issueKey();
  // Each service counts for itself, so both use the key up.
  const usedKey = await environment.issueKey(small);
  for (const service of services) {
    for (const key of [usedKey, apiKey, holdingKey]) {
      await sendOften(service, service.api.list, key, small.perDay + 1);
    }
  }
  const lock = server.query(`begin; lock table pets in access exclusive mode; select pg_sleep(${heldSeconds}); commit`);
  await until("the table is locked", async () => (await countIn(server, locks)) > 0);
  // Some queries share a connection until it is seen to be stalled. The next ones take another connection.
  const held: Promise<unknown>[] = [];
  for (let wave = 0; wave < 8 && (await countIn(server, waiting)) < services.length * poolSize; wave += 1) {
    // These requests are part of the fault, so the oracles do not see them.
    const options = { requests: poolSize, clients: poolSize, apiKey: holdingKey, pauseMs: 0 };
    const call = (api: Api, request: number) => api.listOf(10 + wave * poolSize + request);
    const loads = services.map((service) => startLoad({ ...options, targets: [service], call }));
    held.push(...loads.map(({ done }) => done));
    await sleep(stallMs);
  }
  await sleep(keyAgeMs);
  figures.exactly(services.length * poolSize, "connections held", await countIn(server, waiting));
  for (const service of services) {
    const { name, list, path } = service.api;
    const refused = await sendOften(service, list, apiKey, refusals);
    figures.count(refusals, `${name}: 503 with Retry-After`, refused, isUnavailable);
    figures.atMost(acquireTimeoutMs + 100, `${name}: the slowest 503`, slowestMs(refused), "ms");
    const mistake = name === rest.name ? { ...list, path: "/v1/pets?limit=0" } : graphqlCall("{");
    /** Requests that need no connection. */
    const cheap: readonly (readonly [status: number, call: HttpRequest, key: string])[] = [
      [401, list, "malformed"],
      [404, { method: "GET", path: `${path}/none` }, apiKey],
      [405, { method: "DELETE", path: list.path }, apiKey],
      [400, mistake, apiKey],
      [429, list, usedKey],
    ];
    for (const [status, call, key] of cheap) {
      const answers = await sendOften(service, call, key, rounds);
      const medianMs = median(answers.map(({ durationMs }) => durationMs));
      figures.count(0, `${name}: answers other than ${status}`, answers, (answer) => answer.status !== status);
      figures.atMost(fastMs, `${name}: ${status}, the median of ${rounds}`, medianMs, "ms");
    }
  }
  await Promise.all([lock, ...held]);
});

const locks = "pg_locks where relation = 'pets'::regclass and mode = 'AccessExclusiveLock' and granted";
const waiting = "pg_stat_activity where wait_event_type = 'Lock' and application_name = 'petstore'";

async function countIn(server: PostgresServer, rows: string): Promise<number> {
  const [row] = await server.query(`select count(*)::int as count from ${rows}`);
  return Number(row?.count);
}
