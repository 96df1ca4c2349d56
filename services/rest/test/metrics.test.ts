// The metrics at /metrics after real requests. tools/deploy tests that each metric of the dashboard and the alerts exists, and
// metric-series.test.ts that their number is bounded.
import { expect, it } from "vitest";
import { type CallOptions, openSharedStore } from "./test-store.js";

/** The second strike of a key bans it. */
const bansSoon = { BAN_STRIKES: "2", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };
const store = await openSharedStore({ METRICS_PORT: "0", ...bansSoon });
const valid = await store.issueKey();
const calls = "db_client_operation_duration_seconds_count";
// The key is then in the cache.
await store.call("GET", "/v1/none", valid);

/** The number of these requests is the count of their durations. */
function countOf(method: string, route: string, status: number): string {
  const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`;
  return `http_server_request_duration_seconds_count{${labels},url_scheme="http"}`;
}

it.each<[string, string, string, CallOptions]>([
  [countOf("GET", "/v1/pets", 200), "GET", "/v1/pets?limit=1", valid],
  [countOf("_OTHER", "/v1/pets", 405), "PROPFIND", "/v1/pets", valid],
  [countOf("GET", "static", 200), "GET", "/usage", {}],
  [countOf("GET", "/v1/pets/{petId}", 401), "GET", "/v1/pets/1", { key: "no" }],
  [countOf("GET", "unmatched", 401), "GET", "/elsewhere", {}],
  ['petstore_http_problems_total{code="API_KEY_MISSING"}', "GET", "/elsewhere", {}],
  [`${calls}{db_system_name="postgresql",db_query_summary="select-pets"}`, "GET", "/v1/pets", valid],
  ['petstore_quota_decisions_total{bucket="address",mode="local",outcome="admitted"}', "GET", "/v1/pets", {}],
  ['petstore_quota_decisions_total{bucket="account",mode="local",outcome="admitted"}', "GET", "/v1/pets", valid],
  ['petstore_key_lookups_total{result="hit"}', "GET", "/v1/pets", valid],
])("%s counts each %s %s", async (series, method, path, options) => {
  const before = (await store.scrape()).get(series) ?? 0;
  await store.call(method, path, options);
  await store.call(method, path, options);
  // The service counts after it has sent the response, so the client may be faster.
  await expect.poll(async () => (await store.scrape()).get(series)).toBe(before + 2);
});

it.each([
  ["an alert notices the first burst of faults", 'petstore_http_problems_total{code="INTERNAL_ERROR"}', 0],
  ["an alert notices the first outage", 'petstore_http_problems_total{code="SERVICE_UNAVAILABLE"}', 0],
  ["the log lines that standard output has dropped are counted", "petstore_log_lines_dropped_total", 3],
])("%s: %s is %i", async (_what, series, count) => {
  expect((await store.scrape()).get(series)).toBe(count);
});

it("a ban is counted when it begins, and its refusals are not", async () => {
  const bans = async () => (await store.scrape()).get("petstore_quota_bans_total");
  expect(await bans()).toBe(0);
  const small = await store.issueKey({ customLimits: { perMinute: 1, perDay: 1 } });
  for (const [code, count] of [
    [undefined, 0],
    ["DAILY_QUOTA_EXCEEDED", 0],
    ["DAILY_QUOTA_EXCEEDED", 0],
    ["API_KEY_BANNED", 1],
    ["API_KEY_BANNED", 1],
  ] as const) {
    expect((await store.call("GET", "/v1/pets", small)).code).toBe(code);
    expect(await bans()).toBe(count);
    // A refusal in the same millisecond as the first one is no strike.
    store.clock.nowMs += 1;
  }
});

it("a request is counted while it is in flight, and its duration is in seconds", async () => {
  const durations = countOf("GET", "/v1/pets", 200).replace("_count", "_sum");
  const requestsInFlight = 'http_server_active_requests{http_request_method="GET",url_scheme="http"}';
  const inFlight = async () => (await store.scrape()).get(requestsInFlight);
  const before = (await store.scrape()).get(durations) ?? 0;
  await store.execute("begin");
  await store.execute("lock table pets in access exclusive mode");
  const list = store.call("GET", "/v1/pets", valid);
  await expect.poll(inFlight).toBe(1);
  store.clock.nowMs += 2_000;
  await store.execute("rollback");
  await list;
  await expect.poll(inFlight).toBe(0);
  expect((await store.scrape()).get(durations)).toBe(before + 2);
});
