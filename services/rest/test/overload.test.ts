// When requests could only be late, the service says so at once, before any work, and truthfully.
import { describe, expect, it } from "vitest";
import { type Answer, openTestStore, type TestStore } from "./test-store.js";

const shed = {
  code: "SERVICE_UNAVAILABLE",
  message: "There are more requests than can be answered in time; try again shortly.",
  status: 503,
};

/** Keeps a database of one connection busy, and a queue of six before it: with one more, it would be refused for the others. */
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
  it("requests are answered 503 with Retry-After, before their key is looked at, and cost nothing", async () => {
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

  it("probes, preflights and scrapes are answered, and readiness names it", async () => {
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

  it.each(["6", "0"])("nothing is refused at a limit of %s: it is not reached, or there is none", async (limit) => {
    await using store = await openQueueing({ SHED_DATABASE_QUEUE: limit });
    const { key } = await store.issueKey();
    await withQueue(store, key, async () => {
      await expect.poll(async () => (await store.scrape()).get("petstore_database_waiting")).toBe(6);
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect((await store.call("GET", "/v1/pets")).status).toBe(401);
    });
  });
});

it("while the event loop is late, requests are refused; a moment later they are served again", async () => {
  await using store = await openTestStore({ environment: { SHED_EVENT_LOOP_DELAY_MS: "60", METRICS_PORT: "0" } });
  const { key } = await store.issueKey();
  // One long moment, as a collection of garbage would be, is none.
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
  await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).json, { timeout: 8_000 }).toEqual(shed);
  expect((await store.probe("/readyz")).json).toEqual({ status: "degraded", degraded: ["event-loop overload"] });
  isBusy = false;
  await busy;
  await expect.poll(async () => (await store.call("GET", "/v1/pets", { key })).status, { timeout: 4_000 }).toBe(200);
});

function blockFor(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}
