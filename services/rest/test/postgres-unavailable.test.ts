// The start of the service while PostgreSQL is unavailable. tools/checks tests outages of a service that already runs.
import { migrate } from "@petstore/core";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { startServiceProgram } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startRest } from "./rest-process.js";

// Generous, because the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });
const eventually = { timeout: 60_000, interval: 50 };

let server: PostgresServer;
let key: string;
beforeAll(async () => {
  server = await openPostgresServer();
  await migrate(server.url);
  await using database = openStoreDatabase(server.url);
  ({ key } = await database.issueKey());
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
