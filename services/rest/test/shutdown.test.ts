// The shutdown of a service process, as its balancer and its supervisor see it. packages/http tests a second signal.
import { once } from "node:events";
import { connect } from "node:net";
import { migrate } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { type Service, startService } from "@petstore/harness/processes";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

// Generous: without its own timeouts the service would never end.
vi.setConfig({ testTimeout: 30_000 });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.directUrl);
});
afterAll(() => database[Symbol.asyncDispose]());

function start(environment: Readonly<Record<string, string>> = {}): Promise<Service> {
  return startService({ environment: { DATABASE_URL: database.url, METRICS_PORT: "0", ...environment } });
}

describe("SIGTERM", () => {
  it("makes the service not ready at once; it serves requests during the grace period, then exits with 0", async () => {
    await using rest = await start({ SHUTDOWN_GRACE_MS: "1500" });
    const { origin } = rest;
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status).toBe(200);
    const [, metricsPort] = await rest.printed(/"metricsUrl":"http:[^"]+:(\d+)\/metrics"/);
    const unused = connect(Number(metricsPort), "127.0.0.1").on("error", () => {});
    await once(unused, "connect");
    const startedAtMs = performance.now();
    rest.signal("SIGTERM");
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status, { interval: 5 }).toBe(503);
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: "draining" });
    expect((await fetch(`${origin}/livez`)).status).toBe(200);
    const answer = await fetch(`${origin}/v1/pets`);
    expect([answer.status, answer.headers.get("connection")]).toEqual([401, "close"]);
    expect(answer.headers.get("x-ratelimit-limit")).toBe("300");
    expect(await rest.ended).toBe(0);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_490);
  });

  it("ends the service while PostgreSQL does not answer", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using rest = await start({ DATABASE_URL: proxy.url });
    await expect.poll(async () => (await fetch(`${rest.origin}/readyz`)).status).toBe(200);
    await proxy.blackHole();
    rest.signal("SIGTERM");
    expect(await rest.ended).toBe(0);
  });
});
