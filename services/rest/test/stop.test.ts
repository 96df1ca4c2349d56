import { migrate } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startRest } from "./rest-process.js";

// Generous: without its own timeouts the service would never end.
vi.setConfig({ testTimeout: 30_000 });

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.directUrl);
});
afterAll(() => database[Symbol.asyncDispose]());

describe("a service that gets SIGTERM while PostgreSQL does not answer", () => {
  it("exits with 0", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using service = await startRest({ DATABASE_URL: proxy.url });
    expect((await service.get("/readyz")).status).toBe(200);
    await proxy.blackHole();
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
  });

  it("ends at once at a second signal", async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await using service = await startRest({ DATABASE_URL: proxy.url, SHUTDOWN_GRACE_MS: "600000" });
    await proxy.blackHole();
    service.signal("SIGTERM");
    await expect.poll(async () => (await service.get("/readyz")).text).toContain("draining");
    // Within half a second the service ignores a repeated signal, because npm repeats a Ctrl-C.
    await new Promise((resolve) => setTimeout(resolve, 600));
    service.signal("SIGTERM");
    expect(await service.ended).toBe(143);
  });
});
