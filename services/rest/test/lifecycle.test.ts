// The start of a service process while something is missing, and its shutdown as its balancer and its supervisor see it.
// tools/checks tests outages of a service that already runs, packages/http a second signal, and packages/core the end of a
// database that is silent.

import { migrate } from "@petstore/core";
import { shared } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { openPostgresServer } from "@petstore/harness/postgres";
import { startService, startServiceProgram } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { describe, expect, it, vi } from "vitest";
import { main, openTestStore } from "./test-store.js";

// Generous, because the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });
const eventually = { timeout: 60_000, interval: 50 };

const server = await shared(openPostgresServer());
await migrate(server.url);
const database = await shared(openStoreDatabase(server.url));
const { key } = await database.issueKey();

const start = (DATABASE_URL: string, settings: Readonly<Record<string, string>> = {}) =>
  startService({ main, environment: { DATABASE_URL, ...settings } });
const readiness = async ({ origin }: { readonly origin: string }) => (await fetch(`${origin}/readyz`)).status;

describe("a start", () => {
  it("without PostgreSQL is live but not ready, and works without a restart when PostgreSQL is available", async () => {
    await server.kill();
    await using service = await start(server.url);
    using client = openHttpClient(service.origin);
    expect((await client.send("GET", "/livez")).status).toBe(200);
    expect(await client.send("GET", "/readyz")).toMatchObject({ status: 503, text: '{"status":"not ready"}' });
    const list = () => client.send("GET", "/v1/pets", { key });
    expect(await list()).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    await server.restart();
    await expect.poll(async () => (await list()).status, eventually).toBe(200);
    await expect.poll(() => readiness(service), eventually).toBe(200);
  });

  it("without PostgreSQL names it to operators, on the metrics port", async () => {
    await using store = await openTestStore({ DATABASE_URL: "postgres://127.0.0.1:1/nowhere", METRICS_PORT: "0" });
    expect(await store.readiness()).toEqual({ status: "not ready", missing: ["database"] });
  });

  it("is ready only after the migrations have run", async () => {
    await server.query("create database unmigrated");
    const { href } = Object.assign(new URL(server.url), { pathname: "unmigrated" });
    await using service = await start(href);
    expect(await readiness(service)).toBe(503);
    await migrate(href);
    await expect.poll(() => readiness(service), eventually).toBe(200);
  });

  it("ends with one line and exit code 1 if PostgreSQL refuses the password", async () => {
    const { href } = Object.assign(new URL(server.url), { password: "mistaken" });
    // A Redis that is absent: its client would try again for ever, and keep the process alive.
    const environment = { DATABASE_URL: href, REDIS_URL: "redis://127.0.0.1:1" };
    await using service = startServiceProgram({ main, environment });
    expect(await service.ended).toBe(1);
    expect(service.errorOutput).toEqual(["The database refuses the user or the password of DATABASE_URL (28P01)."]);
  });
});

it("after SIGTERM the service is not ready at once, serves during the grace period, says that it has stopped, and exits with 0", async () => {
  await using service = await start(server.url, { SHUTDOWN_GRACE_MS: "5000" });
  await expect.poll(() => readiness(service), eventually).toBe(200);
  const startedAtMs = performance.now();
  service.signal("SIGTERM");
  await expect.poll(() => readiness(service), { interval: 5 }).toBe(503);
  using client = openHttpClient(service.origin);
  expect((await client.send("GET", "/readyz")).json).toEqual({ status: "draining" });
  expect((await client.send("GET", "/livez")).status).toBe(200);
  expect(await client.send("GET", "/v1/pets")).toMatchObject({ status: 401, headers: { connection: "close" } });
  expect(await service.ended).toBe(0);
  expect(JSON.parse(service.output.at(-1) ?? "")).toMatchObject({ msg: "stopped" });
  expect(performance.now() - startedAtMs).toBeGreaterThan(4_990);
});
