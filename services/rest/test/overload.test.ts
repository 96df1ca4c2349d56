// An overloaded service refuses requests at once with 503, before any other work.
import { expect, it } from "vitest";
import { openTestStore, type TestStore } from "./test-store.js";

const shed = {
  code: "SERVICE_UNAVAILABLE",
  message: "There are more requests than can be answered in time; try again shortly.",
  status: 503,
};

/** Occupies the only connection of the pool, and queues six requests for it. */
async function withQueue(limit: string, act: (store: TestStore, key: string) => Promise<void>): Promise<void> {
  await using store = await openTestStore({
    DATABASE_POOL_SIZE: "1",
    // The queue lasts as long as the test needs, also on a busy machine.
    DATABASE_READ_TIMEOUT_MS: "60000",
    SHED_DATABASE_QUEUE: limit,
    METRICS_PORT: "0",
  });
  const { key } = await store.issueKey();
  await store.call("GET", "/v1/pets", { key });
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  const queued = Array.from({ length: 7 }, () => store.call("GET", "/v1/pets", { key }));
  await expect.poll(async () => (await store.scrape()).get("petstore_database_waiting")).toBeGreaterThanOrEqual(6);
  try {
    await act(store, key);
  } finally {
    await store.execute("rollback");
    expect((await Promise.all(queued)).map(({ status }) => status)).toEqual(queued.map(() => 200));
  }
  await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).status).toBe(200);
}

it("while the database queue is too long, requests get 503 before authentication, and cost nothing", async () => {
  await withQueue("5", async (store, key) => {
    await expect.poll(store.readiness).toEqual({ status: "degraded", degraded: ["database overload"] });
    expect((await store.call("GET", "/readyz")).json).toEqual({ status: "degraded" });
    expect((await store.call("GET", "/livez")).status).toBe(200);
    expect((await store.call("OPTIONS", "/v1/pets")).status).toBe(204);
    for (const [method, path, options] of [
      ["GET", "/v1/pets", {}],
      ["POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' }],
      ["GET", "/v1/nothing", { key }],
    ] as const) {
      expect(await store.call(method, path, options)).toMatchObject({
        json: shed,
        headers: { "retry-after": "1" },
        rateLimit: { limit: 300, remaining: 300 },
      });
    }
    const scraped = await store.scrape();
    expect(scraped.get('petstore_requests_shed_total{reason="database"}')).toBe(3);
    expect(scraped.get('petstore_requests_shed_total{reason="event-loop"}')).toBe(0);
  });
});

it.each([
  // The service itself may add statements to the queue.
  ["not reached", "10"],
  ["switched off", "0"],
])("no request is refused if the limit is %s", async (_what, limit) => {
  await withQueue(limit, async (store) => {
    // The service, which runs in this process, measures its load every 100 ms.
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect((await store.call("GET", "/v1/pets")).status).toBe(401);
  });
});

it("refuses requests while the event loop is late, and serves them again afterwards", async () => {
  await using store = await openTestStore({ SHED_EVENT_LOOP_DELAY_MS: "300", METRICS_PORT: "0" });
  const { key } = await store.issueKey();
  const list = () => store.call("GET", "/v1/pets", { key });
  // One long delay is not an overload: a garbage collection can be that long.
  blockFor(2_000);
  // The service looks at the delays of a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await list()).status).toBe(200);

  let isBusy = true;
  const busy = (async () => {
    while (isBusy) {
      blockFor(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await expect.poll(async () => (await list()).json).toEqual(shed);
  expect(await store.readiness()).toEqual({ status: "degraded", degraded: ["event-loop overload"] });
  isBusy = false;
  await busy;
  await expect.poll(async () => (await list()).status).toBe(200);
});

function blockFor(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}
