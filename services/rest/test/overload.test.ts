// An overloaded service refuses requests at once with 503, before any other work.
import { describe, expect, it } from "vitest";
import { type Answer, openTestStore, type TestStore } from "./test-store.js";

const shed = {
  code: "SERVICE_UNAVAILABLE",
  message: "There are more requests than can be answered in time; try again shortly.",
  status: 503,
};

/** Occupies the only connection of the pool, and queues six requests for it. */
async function withQueue(store: TestStore, key: string, act: () => Promise<void>): Promise<void> {
  await store.call("GET", "/v1/pets", { key });
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  const queued = Array.from({ length: 7 }, () => store.call("GET", "/v1/pets", { key }));
  try {
    await act();
  } finally {
    await store.execute("rollback");
    expect((await Promise.all(queued)).map(({ status }) => status)).toEqual(queued.map(() => 200));
  }
}

function openQueueing(environment: Readonly<Record<string, string>>): Promise<TestStore> {
  return openTestStore({
    environment: {
      DATABASE_POOL_SIZE: "1",
      DATABASE_ACQUIRE_TIMEOUT_MS: "10000",
      DATABASE_READ_TIMEOUT_MS: "10000",
      DATABASE_WRITE_TIMEOUT_MS: "10000",
      METRICS_PORT: "0",
      ...environment,
    },
  });
}

describe("while the queue for the database is too long", () => {
  it("requests get 503 with Retry-After before authentication, and cost nothing", async () => {
    await using store = await openQueueing({ SHED_DATABASE_QUEUE: "5" });
    const { key } = await store.issueKey();
    await withQueue(store, key, async () => {
      const answers: Answer[] = [];
      await expect
        .poll(async () => answers[answers.push(await store.call("GET", "/v1/pets/x")) - 1]?.json)
        .toEqual(shed);
      const counted = (await store.call("GET", "/v1/pets")).rateLimit;
      const answer = await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' });
      expect(answer.json).toEqual(shed);
      expect(answer.headers).toMatchObject({ "retry-after": "1", "content-type": "application/json; charset=utf-8" });
      expect(answer.rateLimit).toEqual(counted);
      expect(answer.rateLimit).toMatchObject({ limit: 300, reset: store.clock.nowMs / 1_000 + 60 });
      expect((await store.call("GET", "/v1/nothing", { key })).json).toEqual(shed);
    });
    await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).status).toBe(200);
    const scraped = await store.scrape();
    expect(scraped.get('petstore_requests_shed_total{reason="database"}')).toBeGreaterThanOrEqual(3);
    expect(scraped.get('petstore_requests_shed_total{reason="event-loop"}')).toBe(0);
  });

  it("probes, preflights and scrapes work, and readiness reports the overload", async () => {
    await using store = await openQueueing({ SHED_DATABASE_QUEUE: "5" });
    const { key } = await store.issueKey();
    await withQueue(store, key, async () => {
      await expect
        .poll(async () => (await store.probe("/readyz")).json)
        .toEqual({ status: "degraded", degraded: ["database overload"] });
      expect((await store.call("GET", "/readyz")).json).toEqual({ status: "degraded" });
      expect((await store.call("GET", "/livez")).status).toBe(200);
      expect((await store.call("OPTIONS", "/v1/pets")).status).toBe(204);
      expect((await store.scrape()).get("petstore_database_waiting")).toBe(6);
    });
  });

  it.each(["6", "0"])(
    "no request is refused with a limit of %s, which is not reached or switched off",
    async (limit) => {
      await using store = await openQueueing({ SHED_DATABASE_QUEUE: limit });
      const { key } = await store.issueKey();
      await withQueue(store, key, async () => {
        await expect.poll(async () => (await store.scrape()).get("petstore_database_waiting")).toBe(6);
        await new Promise((resolve) => setTimeout(resolve, 250));
        expect((await store.call("GET", "/v1/pets")).status).toBe(401);
      });
    },
  );
});

it("refuses requests while the event loop is late, and serves them again afterwards", async () => {
  await using store = await openTestStore({ environment: { SHED_EVENT_LOOP_DELAY_MS: "60", METRICS_PORT: "0" } });
  const { key } = await store.issueKey();
  // One long delay is not an overload: a garbage collection can be that long.
  blockFor(700);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);

  let isBusy = true;
  const busy = (async () => {
    while (isBusy) {
      blockFor(150);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).json).toEqual(shed);
  expect((await store.probe("/readyz")).json).toEqual({ status: "degraded", degraded: ["event-loop overload"] });
  isBusy = false;
  await busy;
  await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).status).toBe(200);
});

function blockFor(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}
