import { migrate } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/testing";
import { openFaultProxy } from "@petstore/testing/fault-proxy";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startProcess } from "./service-process.js";

// Far more than the service takes: without its own limits it would never end.
vi.setConfig({ testTimeout: 30_000 });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.directUrl);
});
afterAll(() => database[Symbol.asyncDispose]());

describe("a service that is told to stop while PostgreSQL is silent", () => {
  it("ends, with exit code 0", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using service = await startProcess({ DATABASE_URL: proxy.url });
    expect((await service.get("/readyz")).status).toBe(200);
    await proxy.blackHole();
    service.signal("SIGTERM");
    await service.end;
    expect(service.ended()).toBe(0);
  });

  it("ends at once at a second signal", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using service = await startProcess({ DATABASE_URL: proxy.url, SHUTDOWN_GRACE_MS: "600000" });
    await proxy.blackHole();
    service.signal("SIGTERM");
    await expect.poll(async () => (await service.get("/readyz")).text, { timeout: 10_000 }).toContain("draining");
    // Within half a second it could be the echo that npm makes of a Ctrl-C.
    await new Promise((resolve) => setTimeout(resolve, 600));
    service.signal("SIGTERM");
    await service.end;
    expect(service.ended()).toBe(143);
  });
});
