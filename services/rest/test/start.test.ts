// The start of the service while something is missing. tools/checks tests outages of a service that already runs.

import { openStoreDatabase } from "@petstore/checks/store-database";
import { migrate } from "@petstore/core";
import { openHttpClient } from "@petstore/harness/network";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { startService, startServiceProgram } from "@petstore/harness/processes";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

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

it("without PostgreSQL it is live but not ready, and works without a restart when PostgreSQL is available", async () => {
  await server.kill();
  await using service = await startService({ environment: { DATABASE_URL: server.url } });
  using client = openHttpClient(service.origin);
  expect((await client.send("GET", "/livez")).status).toBe(200);
  expect(await client.send("GET", "/readyz")).toMatchObject({ status: 503, text: '{"status":"not ready"}' });
  expect(await client.send("GET", "/v1/pets", { key })).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  await server.restart();
  for (const path of ["/v1/pets", "/readyz"]) {
    await expect.poll(async () => (await client.send("GET", path, { key })).status, eventually).toBe(200);
  }
});

it("is ready only after the migrations have run", async () => {
  await server.query("create database unmigrated");
  const url = new URL(server.url);
  url.pathname = "unmigrated";
  await using service = await startService({ environment: { DATABASE_URL: url.href } });
  const readiness = async () => (await fetch(`${service.origin}/readyz`)).status;
  expect(await readiness()).toBe(503);
  await migrate(url.href);
  await expect.poll(readiness, eventually).toBe(200);
});

it("ends with one line and exit code 1 if PostgreSQL refuses the password", async () => {
  const url = new URL(server.url);
  url.password = "mistaken";
  await using service = startServiceProgram({ environment: { DATABASE_URL: url.href } });
  expect(await service.ended).toBe(1);
  expect(service.errorOutput).toEqual(["The database refuses the user or the password of DATABASE_URL (28P01)."]);
});
