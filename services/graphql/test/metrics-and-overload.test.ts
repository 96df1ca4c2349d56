// The metrics of this API, and its refusals during an overload.
import { expect, it } from "vitest";
import { errorsOf, openGraphqlStore } from "./test-store.js";

const query = "{ pets { id } }";

it("counts requests and refusals by the route of the API", async () => {
  await using store = await openGraphqlStore({ environment: { METRICS_PORT: "0" } });
  const { key } = await store.issueKey();
  await store.ask(query, { key });
  await store.ask(query);
  const counted = async (series: string) => (await store.scrape()).get(`petstore_http_${series}`);
  const labels = 'route="/graphql",method="POST"';
  await expect.poll(() => counted(`requests_total{${labels},status="200"}`)).toBe(1);
  await expect.poll(() => counted(`problems_total{${labels},code="API_KEY_MISSING"}`)).toBe(1);
  expect(await counted(`request_duration_seconds_count{${labels}}`)).toBe(2);
});

it("refuses an operation with a GraphQL error while the database queue is too long, without cost", async () => {
  const environment = { DATABASE_POOL_SIZE: "1", DATABASE_ACQUIRE_TIMEOUT_MS: "10000", SHED_DATABASE_QUEUE: "3" };
  await using store = await openGraphqlStore({
    environment: { ...environment, DATABASE_READ_TIMEOUT_MS: "10000", DATABASE_WRITE_TIMEOUT_MS: "10000" },
  });
  const { key } = await store.issueKey();
  await store.ask(query, { key });
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  const queued = Array.from({ length: 6 }, () => store.ask(query, { key }));
  await expect.poll(async () => (await store.ask(query)).status).toBe(503);
  const answer = await store.ask(query, { key });
  expect(answer.status).toBe(503);
  expect(errorsOf(answer)).toMatchObject([{ extensions: { code: "SERVICE_UNAVAILABLE", status: 503 } }]);
  expect(answer.headers["retry-after"]).toBe("1");
  expect(answer.rateLimit.limit).toBe(300);
  await store.execute("rollback");
  expect((await Promise.all(queued)).map(({ status }) => status)).toEqual(queued.map(() => 200));
});
