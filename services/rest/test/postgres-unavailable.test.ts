// The service as a process while PostgreSQL fails. `npm run faults` measures how fast it fails and recovers.
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "@petstore/core";
import { type HttpAnswer, nowMs } from "@petstore/harness/network";
import { openPostgresServer, openSession, type PostgresServer } from "@petstore/harness/postgres";
import { startServiceProgram } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type RestProcess, startRest } from "./rest-process.js";

// Generous, because the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });
const eventually = { timeout: 60_000, interval: 50 };

let server: PostgresServer;
/** The key of an account with high limits. */
let key: string;
/** The key of an account with three requests a day. */
let smallKey: string;
beforeAll(async () => {
  server = await openPostgresServer();
  await migrate(server.url);
  await using database = openStoreDatabase(server.url);
  ({ key } = await database.issueKey());
  ({ key: smallKey } = await database.issueKey({ customLimits: { perMinute: 1_000_000, perDay: 3 } }));
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe("a service that starts while PostgreSQL is unavailable", () => {
  it("is live but not ready, and works without a restart when PostgreSQL is available", async () => {
    await server.kill();
    await using service = await startRest({ DATABASE_URL: server.url });
    expect((await service.get("/livez")).status).toBe(200);
    expect(await service.get("/readyz")).toMatchObject({ status: 503, text: '{"status":"not ready"}' });
    expect(await service.get("/v1/pets", key)).toMatchObject({ status: 503, retryAfterSeconds: 1 });
    await server.restart();
    await expect.poll(async () => (await service.get("/v1/pets", key)).status, eventually).toBe(200);
    await expect.poll(async () => (await service.get("/readyz")).status, eventually).toBe(200);
  });

  it("ends with one line and exit code 1 if PostgreSQL refuses the password", async () => {
    const url = new URL(server.url);
    url.password = "mistaken";
    await using service = startServiceProgram({ environment: { DATABASE_URL: url.href } });
    expect(await service.ended).toBe(1);
    expect(service.errorOutput).toEqual(["The database refuses the user or the password of DATABASE_URL (28P01)."]);
  });

  it("is ready only after the migrations have run", async () => {
    await server.query("create database unmigrated");
    const url = new URL(server.url);
    url.pathname = "unmigrated";
    await using service = await startRest({ DATABASE_URL: url.href });
    expect((await service.get("/readyz")).status).toBe(503);
    await migrate(url.href);
    await expect.poll(async () => (await service.get("/readyz")).status, eventually).toBe(200);
  });
});

describe("a service under load", () => {
  it("answers 503 while PostgreSQL is killed, and 200 after its restart", async () => {
    await using service = await startRest({ DATABASE_URL: server.url });
    await using load = startLoad(service);
    await load.untilSuccesses(100);
    await server.kill();
    const killedAtMs = nowMs();
    await load.untilFailures(100);
    const restartsAtMs = nowMs();
    await server.restart();
    await load.untilSuccesses(200);
    const failed = load.answers.filter(({ status }) => status !== 200);
    expect(new Set(failed.map(({ status, retryAfterSeconds }) => `${status} ${retryAfterSeconds}`))).toEqual(
      new Set(["503 1"]),
    );
    const during = load.answers.filter(
      ({ sentAtMs, durationMs }) => sentAtMs > killedAtMs && sentAtMs + durationMs < restartsAtMs,
    );
    expect(during.filter(({ status }) => status !== 503)).toEqual([]);
    expect(service.hasEnded()).toBe(false);
  });

  it("answers 503 at the statement timeout while PostgreSQL hangs, and 200 when it continues", async () => {
    await using service = await startRest({
      DATABASE_URL: server.url,
      DATABASE_READ_TIMEOUT_MS: "700",
      DATABASE_WRITE_TIMEOUT_MS: "700",
    });
    await using load = startLoad(service);
    await load.untilSuccesses(100);
    await server.pauseBackends();
    await load.untilFailures(1);
    // New connections are served, so the service recovers without the paused ones.
    await load.untilSuccesses(100);
    server.resumeBackends();
    await load.untilSuccesses(200);
    const failed = load.answers.filter(({ status }) => status !== 200);
    expect(new Set(failed.map(({ status, retryAfterSeconds }) => `${status} ${retryAfterSeconds}`))).toEqual(
      new Set(["503 1"]),
    );
  });

  it("fails at most one request for each backend that is terminated", async () => {
    const kills = 200;
    await using service = await startRest({ DATABASE_URL: server.url });
    await using load = startLoad(service);
    await load.untilSuccesses(100);
    await server.terminateBackends(kills, 20);
    await load.untilSuccesses(100);
    expect(load.answers.filter(({ status }) => status >= 500).length).toBeLessThanOrEqual(kills);
    expect(service.hasEnded()).toBe(false);
  });

  it("answers 503 at the acquisition timeout if the pool is exhausted, and other requests without waiting for it", async () => {
    const acquireTimeoutMs = 2_000;
    await using service = await startRest({
      DATABASE_URL: server.url,
      DATABASE_POOL_SIZE: "4",
      DATABASE_ACQUIRE_TIMEOUT_MS: `${acquireTimeoutMs}`,
      DATABASE_READ_TIMEOUT_MS: "60000",
      DATABASE_WRITE_TIMEOUT_MS: "60000",
    });
    for (let request = 0; request < 4; request++) await service.get("/v1/pets", smallKey);
    await service.get("/v1/none", key);
    await using locker = await openSession(server.url);
    await locker.query("begin");
    await locker.query("lock table pets in access exclusive mode");
    const held = [1, 2, 3, 4].map(() => service.get("/v1/pets", key));
    // Longer than the 5 seconds for which a key is cached.
    await sleep(6_000);
    expect(await service.get("/v1/pets", key)).toMatchObject({ status: 503, retryAfterSeconds: 1 });
    const expected = [
      [401, () => service.get("/v1/pets", "malformed")],
      [404, () => service.get("/v1/none", key)],
      [405, () => service.get("/v1/pets", key, "DELETE")],
      [400, () => service.get("/v1/pets?limit=0", key)],
      [429, () => service.get("/v1/pets", smallKey)],
    ] as const;
    for (const [status, ask] of expected) {
      const answers = [await ask(), await ask(), await ask()];
      expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
      expect(Math.min(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(acquireTimeoutMs);
    }
    await locker.query("rollback");
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});

interface Load extends AsyncDisposable {
  readonly answers: readonly HttpAnswer[];
  /** Resolves when the last `count` responses are new, and all of them are 200. */
  untilSuccesses(count: number): Promise<void>;
  /** Resolves after `count` more responses that are not 200. */
  untilFailures(count: number): Promise<void>;
}

/** Eight clients that list without a pause. */
function startLoad(service: RestProcess): Load {
  const answers: HttpAnswer[] = [];
  let isStopped = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!isStopped) {
      const answer = await service.get("/v1/pets?limit=2", key);
      answers.push(answer);
      // A refused client waits, so that refusals do not take all of the CPU.
      if (answer.status >= 500) await sleep(10);
    }
  });
  return {
    answers,
    async untilSuccesses(count) {
      const start = answers.length;
      const isRecovered = () => {
        const latest = answers.slice(Math.max(start, answers.length - count));
        return latest.length === count && latest.every(({ status }) => status === 200);
      };
      await expect.poll(isRecovered, eventually).toBe(true);
    },
    async untilFailures(count) {
      const start = answers.length;
      const failures = () => answers.slice(start).filter(({ status }) => status !== 200).length;
      await expect.poll(failures, eventually).toBeGreaterThanOrEqual(count);
    },
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await Promise.all(clients).catch(() => {});
    },
  };
}
