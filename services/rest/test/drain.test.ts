// The shutdown of a service process, as its balancer and its supervisor see it.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { migrate } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { type Service, startService, startServiceProgram } from "@petstore/harness/processes";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
});
afterAll(() => database[Symbol.asyncDispose]());

function start(environment: Readonly<Record<string, string>>): Promise<Service> {
  return startService({ environment: { DATABASE_URL: database.url, METRICS_PORT: "0", ...environment } });
}

describe("SIGTERM", () => {
  it("makes the service not ready at once; it serves requests during the grace period, then exits with 0", async () => {
    await using rest = await start({ SHUTDOWN_GRACE_MS: "1500" });
    const { origin } = rest;
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status).toBe(200);
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
    expect(rest.output.join()).toContain('"graceMs":1500,"msg":"draining"');
  });

  it("ends the service at once without a grace period, also with an open connection to the metrics port", async () => {
    await using rest = await start({});
    const [, metricsPort] = await rest.printed(/"metricsUrl":"http:[^"]+:(\d+)\/metrics"/);
    const unused = connect(Number(metricsPort), "127.0.0.1").on("error", () => {});
    await once(unused, "connect");
    const startedAtMs = performance.now();
    rest.signal("SIGTERM");
    expect(await rest.ended).toBe(0);
    // The requests of a connection in use would get 2.5 s.
    expect(performance.now() - startedAtMs).toBeLessThan(2_400);
  });

  it("ends the service at once if it is sent twice", async () => {
    await using rest = await start({ SHUTDOWN_GRACE_MS: "60000" });
    rest.signal("SIGTERM");
    // Within half a second the service ignores a repeated signal.
    await new Promise((resolve) => setTimeout(resolve, 700));
    rest.signal("SIGTERM");
    expect(await rest.ended).toBe(143);
  });
});

it("a failed start leaves nothing open, prints one line and exits with 1", async () => {
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const environment = { DATABASE_URL: database.url, METRICS_PORT: "0", LOG_LEVEL: "error" };
  await using rest = startServiceProgram({ environment, port });
  expect(await rest.ended).toBe(1);
  expect(rest.output).toEqual([
    `Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or choose another port.`,
  ]);
});
