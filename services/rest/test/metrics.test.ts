// The metrics at /metrics after real requests. No request can add a series without a bound.
import { openRawClient } from "@petstore/harness/network";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallOptions, openTestStore, type TestStore } from "./test-store.js";

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore({
    environment: { METRICS_PORT: "0", DATABASE_READ_TIMEOUT_MS: "300", DATABASE_WRITE_TIMEOUT_MS: "300" },
  });
});
afterAll(() => store[Symbol.asyncDispose]());

const body = '{"name":"Ada","categoryId":1}';

async function increase(series: string, act: () => Promise<unknown>): Promise<number> {
  const before = (await store.scrape()).get(series) ?? 0;
  await act();
  // The service counts after it has sent the response, so the client may be faster.
  let after = before;
  await expect
    .poll(async () => {
      after = (await store.scrape()).get(series) ?? 0;
      return after;
    })
    .toBeGreaterThan(before);
  return after - before;
}

describe("metrics", () => {
  it("count requests by route template, method and status", async () => {
    const { key } = await store.issueKey();
    const lists = () => Promise.all(Array.from({ length: 5 }, () => store.call("GET", "/v1/pets?limit=1", { key })));
    const series = 'petstore_http_requests_total{route="/v1/pets",method="GET",status="200"}';
    expect(await increase(series, lists)).toBe(5);
  });

  it.each<[string, string, CallOptions, string]>([
    ["/v1/pets", "GET", {}, "API_KEY_MISSING"],
    ["/v1/pets/{petId}", "GET", { key: "pets_live_invented" }, "API_KEY_INVALID"],
    ["/v1/pets", "POST", {}, "API_KEY_MISSING"],
    ["unmatched", "GET", {}, "API_KEY_MISSING"],
  ])("count a request that is refused before %s by that route", async (route, method, options, code) => {
    const path = route === "unmatched" ? "/elsewhere" : route.replace("{petId}", "1");
    const series = `petstore_http_problems_total{route="${route}",method="${method}",code="${code}"}`;
    expect(await increase(series, () => store.call(method, path, options))).toBe(1);
  });

  it("count all static files as one route, so that pages add no series", async () => {
    const series = 'petstore_http_requests_total{route="static",method="GET",status="200"}';
    for (const path of ["/", "/usage"]) expect(await increase(series, () => store.call("GET", path))).toBe(1);
  });

  it("contain the durations of requests", async () => {
    const { key } = await store.issueKey();
    const series = 'petstore_http_request_duration_seconds_count{route="/v1/pets",method="POST"}';
    expect(await increase(series, () => store.call("POST", "/v1/pets", { key, body }))).toBe(1);
    const scraped = await store.scrape();
    const bucket = 'petstore_http_request_duration_seconds_bucket{le="+Inf",route="/v1/pets",method="POST"}';
    expect(scraped.get(bucket)).toBe(scraped.get(series));
  });

  it("count quota decisions by bucket, mode and outcome", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 2, perDay: 100 } });
    const series = (bucket: string, outcome: string) =>
      `petstore_quota_decisions_total{bucket="${bucket}",mode="local",outcome="${outcome}"}`;
    const call = (options: CallOptions) => store.call("GET", "/v1/pets", options);
    expect(await increase(series("account", "admitted"), () => call({ key }))).toBe(1);
    expect(await increase(series("account", "admitted"), () => call({ key }))).toBe(1);
    expect(await increase(series("account", "refused"), () => call({ key }))).toBe(1);
    expect(await increase(series("address", "admitted"), () => call({}))).toBe(1);
  });

  it("count the hits of the key cache", async () => {
    const { key } = await store.issueKey();
    const call = () => store.call("GET", "/v1/pets", { key });
    expect(await increase('petstore_key_lookups_total{result="miss"}', call)).toBe(1);
    expect(await increase('petstore_key_lookups_total{result="hit"}', call)).toBe(1);
  });

  it("contain the state of the pool, the breaker, the event loop, memory and CPU", async () => {
    const scraped = await store.scrape();
    for (const [series, value] of [
      ["petstore_database_reachable", 1],
      ["petstore_database_waiting", 0],
      ['petstore_quota_mode{mode="local"}', 1],
      ['petstore_quota_mode{mode="fallback"}', 0],
      ["petstore_quota_outages_total", 0],
    ] as const) {
      expect(scraped.get(series), series).toBe(value);
    }
    for (const series of [
      'petstore_database_connections{state="idle"}',
      "petstore_key_cache_size",
      "nodejs_eventloop_lag_p99_seconds",
      "process_resident_memory_bytes",
      "process_cpu_seconds_total",
    ]) {
      expect(scraped.get(series), series).toBeGreaterThan(0);
    }
  });

  it("do not count probes and scrapes", async () => {
    await store.call("GET", "/livez");
    await store.call("GET", "/readyz");
    const series = [...(await store.scrape()).keys()].filter((name) => /livez|readyz|metrics"/.test(name));
    expect(series).toEqual([]);
  });

  it("have at most 500 series after every route, every outcome and many random requests", async () => {
    const valid = await store.issueKey();
    const revoked = await store.issueKey();
    await store.revokeKey(revoked.keyId);
    const expired = await store.issueKey({ expiresAt: new Date(0) });
    const spent = await store.issueKey({ customLimits: { perMinute: 1, perDay: 100 } });
    const keys = [valid, revoked, expired, spent].map(({ key }) => key);

    const paths = [
      "/v1/pets",
      "/v1/pets/1",
      "/v1/pets/no",
      "/docs/get-pet-removal.md",
      "/v1",
      "/",
      "/usage",
      "/docs/quickstart.md",
      "/openapi.json",
      "/v1/%zz",
      "/livez",
    ];
    const methods = ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE"];
    const kinds: CallOptions[] = [
      {},
      { body },
      { body: "{" },
      { body: body.padEnd(70_000) },
      { body, headers: { "Content-Type": "text/plain" } },
      { headers: { Accept: "text/html" } },
      { headers: { Host: "a b" } },
      { headers: { "Idempotency-Key": "one" }, body },
      { headers: { "Idempotency-Key": "one" }, body: body.replace("1", "2") },
    ];
    for (const path of paths) {
      for (const method of methods) {
        for (const key of [undefined, "pets_live_invented", ...keys]) {
          for (const options of kinds.slice(0, key === valid.key ? kinds.length : 1)) {
            await store.call(method, path, { ...options, ...(key && { key }) });
          }
        }
      }
    }
    for (const query of ["limit=0", "status=lost", "cursor=no", "limit=1&limit=1"]) {
      await store.call("GET", `/v1/pets?${query}`, valid);
    }
    await withFault("alter table pets rename to renamed_pets", "alter table renamed_pets rename to pets");
    await withFault("begin; lock table pets in access exclusive mode", "rollback");
    for (const bytes of ["nonsense\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"])
      await sendRaw(bytes);
    for (let random = 0; random < 300; random++) {
      await store.call("GET", `/${"x".repeat(random % 40)}${random}/../${random}?a=${random}`, valid);
    }

    const scraped = await store.scrape();
    const { size } = scraped;
    process.stdout.write(`    ${size} series at /metrics\n`);
    expect(size).toBeLessThanOrEqual(500);
    expect(size).toBeGreaterThan(150);
    expect([...scraped.keys()].filter((series) => series.includes('route="other"'))).toEqual([]);

    async function withFault(breaking: string, mending: string): Promise<void> {
      for (const sql of breaking.split("; ")) await store.execute(sql);
      await store.call("GET", "/v1/pets", valid);
      await store.call("GET", "/v1/pets/1", valid);
      await store.call("POST", "/v1/pets", { ...valid, body });
      await store.execute(mending);
    }
  });
});

async function sendRaw(bytes: string): Promise<void> {
  using client = openRawClient(store.port);
  client.write(bytes);
  await client.closed;
}
