// The number of metrics is bounded, whatever clients send.
import { expect, it } from "vitest";
import { sendEveryRequest } from "./every-request.js";
import { openTestStore } from "./test-store.js";

it("there are at most 1,200 series after every route and every outcome, and one has the version", async () => {
  await using store = await openTestStore({
    METRICS_PORT: "0",
    ANONYMOUS_REQUESTS_PER_MINUTE: "1000000",
    DATABASE_READ_TIMEOUT_MS: "1000",
    DATABASE_WRITE_TIMEOUT_MS: "1000",
  });
  const valid = await store.issueKey();
  const free = await store.issueKey({ customLimits: { perMinute: 20, perDay: 1_000 } });
  for (const { key } of [valid, free]) await sendEveryRequest(store, key);
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  await sendEveryRequest(store, valid.key);
  await store.execute("rollback");
  await store.execute("drop table pets cascade");
  // A page in memory would be used for 5 s.
  store.clock.nowMs += 6_000;
  const paths = ["/v1/pets", "/v1/pets/1", "/v1/pets/no", "/v1", "/", "/usage", "/openapi.json", "/v1/%zz", "/livez"];
  for (const path of [...paths, ...Array.from({ length: 20 }, (_, random) => `/${random}/../${random}`)]) {
    for (const method of ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE"]) {
      for (const caller of [{}, valid]) await store.call(method, path, caller);
    }
  }
  const inFlight = 'http_server_active_requests{http_request_method="GET",url_scheme="http"}';
  await expect.poll(async () => (await store.scrape()).get(inFlight)).toBe(0);
  const series = [...(await store.scrape()).keys()];
  expect(series.length).toBeLessThanOrEqual(1_200);
  expect(series.length).toBeGreaterThan(500);
  expect(series).toContainEqual(expect.stringMatching(/^petstore_build_info\{version="\d+\.\d+\.\d+"\}$/));
  const route = 'http_request_method="GET",http_route="/v1/pets",http_response_status_code="500",url_scheme="http"';
  expect(series).toContain(`http_server_request_duration_seconds_count{${route},error_type="INTERNAL_ERROR"}`);
  // Probes and scrapes are not counted.
  expect(series.filter((name) => /route="other"|livez|readyz|metrics"/.test(name))).toEqual([]);
});
